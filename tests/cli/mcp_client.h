/// An MCP client for tests: the real server on pipes, its responses by request id.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/format.h"
#include "cli/sandbox.h"

namespace relay::cli_tests {

class McpClient {
 public:
  explicit McpClient(Sandbox& box, std::vector<std::string> words = {}) {
    words.insert(words.begin(), "mcp");
    server_ = box.start(words);
    const auto id = request("initialize", R"({"protocolVersion":"2025-06-18","capabilities":{}})");
    send_line(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    EXPECT_EQ(string_member(response(id).at("result").get_object(), "protocolVersion"), "2025-06-18");
  }

  void send_line(const std::string& line) const { server_->type(line + "\n"); }
  int request(const std::string& method, const std::string& params) {
    send_line(format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", ++last_id_, method, params));
    return last_id_;
  }
  int call(const std::string& tool, const std::string& arguments = "{}") {
    return request("tools/call", format(R"({{"name":"{}","arguments":{}}})", tool, arguments));
  }

  [[nodiscard]] bool has_response(int id) const { return find(id).has_value(); }
  /// Waits for the response.
  [[nodiscard]] json::object response(int id) const {
    EXPECT_TRUE(eventually([&] { return has_response(id); })) << server_->out() << server_->err();
    return find(id).value_or(json::object{});
  }
  /// The text of a tool result.
  [[nodiscard]] std::string text(int id) const {
    const auto message = response(id);
    const auto* object = object_member(message, "result");
    if (object == nullptr) return json::serialize(message);
    return std::string{object->at("content").at(0).at("text").get_string()};
  }
  [[nodiscard]] json::object structured(int id) const {
    const auto message = response(id);
    const auto* object = object_member(message, "result");
    const auto* structured = object != nullptr ? object_member(*object, "structuredContent") : nullptr;
    EXPECT_NE(structured, nullptr) << json::serialize(message);
    return structured != nullptr ? *structured : json::object{};
  }
  /// Calls a tool and waits for its text.
  std::string call_text(const std::string& tool, const std::string& arguments = "{}") {
    return text(call(tool, arguments));
  }

  [[nodiscard]] Background& server() const { return *server_; }

 private:
  [[nodiscard]] std::optional<json::object> find(int id) const {
    const auto out = server_->out();
    for (std::size_t start = 0, end = 0; (end = out.find('\n', start)) != std::string::npos; start = end + 1) {
      const auto line = parse_json_object(std::string_view{out}.substr(start, end - start));
      EXPECT_TRUE(line.has_value()) << "not JSON-RPC: " << out.substr(start, end - start);
      if (line && integer_member(*line, "id") == id && !line->contains("method")) return *line;
    }
    return std::nullopt;
  }

  std::unique_ptr<Background> server_;
  int last_id_ = 0;
};

}  // namespace relay::cli_tests
