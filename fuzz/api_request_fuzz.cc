/// Any HTTP request ("METHOD TARGET\n", headers, an empty line, a body) gets one response below 500. An error has a
/// code and a message.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/testing/fake_workspaces.h"
#include "check.h"

namespace {

using namespace relay;

std::string_view line_of(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

void check_answer(const net::ServerResponse& answer) {
  FUZZ_CHECK(answer.status >= 200 && answer.status < 500);
  if (answer.status < 400) return;
  const auto object = parse_json_object(answer.body);
  FUZZ_CHECK(object.has_value());
  const auto* error = object_member(*object, "error");
  FUZZ_CHECK(error != nullptr && string_member(*error, "code") && !string_member(*error, "message")->empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::string_view text{reinterpret_cast<const char*>(bytes), size};
  api::testing::FakeApi fake;
  auto& client = fake.workspaces.add("aaaaaaaaaaaa", "/home/me/first");
  client.responses["SESSION_QUERY"].push_back(json::object{{"id", "s1"}, {"agent", "Bob"}, {"connected", true}});
  client.responses["LIST_AGENTS"].push_back(
      json::object{{"agents", json::array{json::object{{"name", "Bob"}, {"sessionId", "s1"}}}}});
  client.responses["LIST_CONNECTED_AGENTS"] = client.responses["LIST_AGENTS"];
  fake.gateway.hosts = {{.id = "h1", .name = "Bob", .spawned = true}};

  const auto first = line_of(text);
  const auto blank = std::min(first.find(' '), first.size());
  std::string method{first.substr(0, blank)};
  std::string target{first.substr(std::min(blank + 1, first.size()))};
  if (!target.starts_with('/')) target = "/" + target;
  std::vector<net::HttpHeader> headers;
  for (auto line = line_of(text); !line.empty(); line = line_of(text)) {
    const auto colon = std::min(line.find(':'), line.size());
    headers.push_back({std::string{line.substr(0, colon)}, std::string{line.substr(std::min(colon + 1, line.size()))}});
  }
  check_answer(fake.request(std::move(method), std::move(target), std::string{text}, std::move(headers)));
  return 0;
}
