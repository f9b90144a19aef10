// Any hook input: an event or an error. An event survives its JSON and fits a frame; any response to it is JSON or
// empty.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "check.h"
#include "hooks/event.h"
#include "hooks/response.h"

using namespace relay;

namespace {

void try_answers(const hooks::HookEvent& event, std::string_view text) {
  const hooks::HookResponse answers[] = {
      {.context = std::string{text}},
      {.decision = hooks::HookDecision::Allow, .updated_input = std::string{text}},
      {.decision = hooks::HookDecision::Deny, .message = event.tool_input},
  };
  for (const auto& answer : answers) {
    const auto written = hooks::write_response(event, answer);
    // Host responses are parsed, so they are valid UTF-8.
    if (!written.empty() && parse_json(json::serialize(json::string{text}))) FUZZ_CHECK(parse_json_object(written));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  for (const auto agent : {hooks::AgentCli::Claude, hooks::AgentCli::Codex, hooks::AgentCli::Gemini}) {
    const auto event = hooks::parse_event(agent, text);
    if (!event) {
      FUZZ_CHECK(!event.error().message().empty());
      continue;
    }
    const auto again = hooks::event_from(hooks::to_json(*event));
    FUZZ_CHECK(again && *again == *event);
    const auto frame = hooks::serialize_within(*event, hooks::kMinSerializedBytes);
    FUZZ_CHECK(frame.size() <= hooks::kMinSerializedBytes && parse_json_object(frame));
    try_answers(*event, text);
  }
  if (const auto object = parse_json_object(text)) {
    (void)hooks::event_from(*object);
    if (const auto answer = hooks::response_from(*object))
      FUZZ_CHECK(hooks::response_from(hooks::to_json(*answer)) == *answer);
  }
  return 0;
}
