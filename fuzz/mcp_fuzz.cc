// Any input of an MCP client, line by line: every output line is one JSON-RPC message, a request gets at most one
// response, and tool arguments become values or an error. Also the reservation table as a file, and a host's fetch
// response: the model sees one header per message.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "check.h"
#include "mcp/arguments.h"
#include "mcp/hosted_client.h"
#include "mcp/message_view.h"
#include "mcp/reservations.h"
#include "mcp/server.h"

using namespace relay;

namespace {

/// Checks arguments like RelayTools, and leaves every other call open.
struct FakeRequestHandler final : mcp::RequestHandler {
  void call(mcp::RequestId id, std::string_view tool, const json::object& given, bool) override {
    const auto checked = mcp::Arguments::check(*mcp::find_tool(tool), given);
    if (!checked) FUZZ_CHECK(!checked.error().message().empty());
    if (id % 2 == 0) return;
    server->progress(id, 1, 2, "x");
    server->finish(id, checked ? mcp::ToolResult{.text = checked->text("body")} : mcp::failed("no"));
  }
  void read(mcp::RequestId id, std::string_view) override {
    if (id % 2 == 0) server->finish_reading(id, json::object{});
  }
  void cancel(mcp::RequestId) override {}
  mcp::Server* server = nullptr;
};

void check_inbox(const json::object& response) {
  const auto page = mcp::parse_inbox_page(response);
  const auto text = mcp::render_messages(page, "nothing").text;
  std::size_t headers = 0;
  for (auto at = text.find("\nRelay message from "); at != std::string::npos; ++headers)
    at = text.find("\nRelay message from ", at + 1);
  FUZZ_CHECK(headers == page.messages.size());
  FUZZ_CHECK(array_member(mcp::messages_json(page), "messages")->size() == page.messages.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  static const auto kTools = mcp::tools_for_clients(mcp::Spawning::Allowed);
  static const auto kResources = mcp::resources_for_clients();
  FakeRequestHandler handler;
  mcp::Server server{{.version = "1",
                      .instructions = "",
                      .tools = kTools,
                      .resources = kResources,
                      .subscribable = {std::string{mcp::kInboxUri}}},
                     handler,
                     [](std::string line, mcp::OnWritten) {
                       FUZZ_CHECK(line.find('\n') == std::string::npos);
                       const auto parsed = parse_json(line);
                       FUZZ_CHECK(parsed.has_value());
                       const auto* batch = parsed->if_array();
                       FUZZ_CHECK(batch == nullptr || !batch->empty());
                       for (const auto& value : batch != nullptr ? *batch : json::array{*parsed}) {
                         const auto* one = value.if_object();
                         FUZZ_CHECK(one != nullptr && string_member(*one, "jsonrpc") == "2.0");
                         FUZZ_CHECK(one->contains("method") || one->contains("result") || one->contains("error"));
                       }
                     }};
  handler.server = &server;
  std::size_t start = 0;
  while (start <= text.size()) {
    const auto end = std::min(text.find('\n', start), text.size());
    server.on_line(text.substr(start, end - start));
    FUZZ_CHECK(server.open() <= mcp::kMaxOpenRequests);
    start = end + 1;
  }
  server.resource_changed(mcp::kInboxUri);
  server.close();

  // The id found in a truncated line is an id of the whole object.
  if (const auto cut = mcp::id_of_cut_line(text, text); !cut.is_null())
    if (const auto whole = parse_json_object(text)) FUZZ_CHECK(whole->contains("id"));

  if (const auto response = parse_json_object(text)) check_inbox(*response);

  const auto table = mcp::ReservationTable::parse(text, 0);
  FUZZ_CHECK(mcp::ReservationTable::parse(table.text(), 0).all() == table.all());
  if (const auto path = mcp::path_in_project("/p", text)) FUZZ_CHECK(mcp::path_in_project("/p", *path) == *path);
  return 0;
}
