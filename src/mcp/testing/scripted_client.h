/// An MCP client in a unit test: sends lines, and parses the responses.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/format.h"
#include "mcp/server.h"
#include "mcp/tools.h"

namespace relay::mcp::testing {

/// Records the requests; the test completes them.
struct RecordingRequestHandler final : RequestHandler {
  struct Call {
    RequestId request_id;
    std::string tool;
    json::object arguments;
    bool wants_progress;
  };
  void call(RequestId request_id, std::string_view tool, const json::object& arguments, bool wants_progress) override {
    calls.push_back({request_id, std::string{tool}, arguments, wants_progress});
  }
  void read(RequestId request_id, std::string_view uri) override { reads.emplace_back(request_id, uri); }
  void cancel(RequestId request_id) override { cancelled.push_back(request_id); }

  std::vector<Call> calls;
  std::vector<std::pair<RequestId, std::string>> reads;
  std::vector<RequestId> cancelled;
};

inline constexpr std::string_view kModernMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

struct ServerFixture : ::testing::Test {
  RecordingRequestHandler handler;
  std::vector<json::object> responses;
  int arrays = 0;  // lines that were arrays
  Server server{{.version = "1.2.3",
                 .instructions = "be kind",
                 .tools = tools_for_clients(Spawning::Forbidden),
                 .resources = resources_for_clients(),
                 .subscribable = {std::string{kInboxUri}}},
                handler,
                [this](std::string line, OnWritten written) {
                  EXPECT_EQ(line.find('\n'), std::string::npos);
                  const auto value = parse_json(line).value();
                  if (const auto* batch = value.if_array()) {
                    ++arrays;
                    for (const auto& one : *batch) responses.push_back(one.get_object());
                  } else {
                    responses.push_back(value.get_object());
                  }
                  if (written) written();
                }};

  /// The response to this line.
  json::object ask(std::string_view line) {
    responses.clear();
    server.on_line(line);
    EXPECT_EQ(responses.size(), 1U) << line;
    return responses.empty() ? json::object{} : responses.front();
  }
  json::object legacy(std::string_view method, std::string_view params = "{}", int id = 7) {
    return ask(format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", id, method, params));
  }
  json::object modern(std::string_view method, std::string_view members = "", int id = 7) {
    return ask(modern_line(method, members, id));
  }
  static std::string modern_line(std::string_view method, std::string_view members = "", int id = 7) {
    return format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{{{}{}{}}}}})", id, method, members,
                  members.empty() ? "" : ",", kModernMeta);
  }
  void shake_hands(std::string_view revision = "2025-11-25") {
    legacy("initialize", format(R"({{"protocolVersion":"{}","capabilities":{{}}}})", revision));
    server.on_line(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    responses.clear();
  }
  static std::int64_t code(const json::object& answer) {
    const auto* error = object_member(answer, "error");
    return error != nullptr ? integer_member(*error, "code").value_or(0) : 0;
  }
  static json::object result(const json::object& answer) {
    const auto* result = object_member(answer, "result");
    EXPECT_NE(result, nullptr) << json::serialize(answer);
    return result != nullptr ? *result : json::object{};
  }
};

}  // namespace relay::mcp::testing
