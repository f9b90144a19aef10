#include "hooks/event.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "hooks/repair.h"
#include "text/utf8.h"

namespace relay::hooks {
namespace {

constexpr std::array<std::string_view, 12> kKinds = {"sessionStart", "prompt",       "beforeTool", "afterTool",
                                                     "permission",   "notification", "turnEnd",    "turnFailed",
                                                     "display",      "interrupt",    "sessionEnd", "other"};

struct KnownEvent {
  std::string_view name;
  EventKind kind;
};
constexpr KnownEvent kKnownEvents[] = {
    {"SessionStart", EventKind::SessionStart},
    {"UserPromptSubmit", EventKind::Prompt},
    {"BeforeAgent", EventKind::Prompt},
    {"PreToolUse", EventKind::BeforeTool},
    {"BeforeTool", EventKind::BeforeTool},
    {"PostToolUse", EventKind::AfterTool},
    {"PostToolUseFailure", EventKind::AfterTool},
    {"AfterTool", EventKind::AfterTool},
    {"PermissionRequest", EventKind::Permission},
    {"Notification", EventKind::Notification},
    {"Stop", EventKind::TurnEnd},
    {"AfterAgent", EventKind::TurnEnd},
    {"StopFailure", EventKind::TurnFailed},
    {"MessageDisplay", EventKind::Display},
    {"Interrupt", EventKind::Interrupt},
    {"SessionEnd", EventKind::SessionEnd},
};

EventKind kind_of(std::string_view name) {
  const auto* found = std::ranges::find(kKnownEvents, name, &KnownEvent::name);
  return found == std::end(kKnownEvents) ? EventKind::Other : found->kind;
}

struct Field {
  std::string_view theirs;  // in the agent's JSON; empty: has a rule of its own
  std::string_view ours;
  std::string Event::* member;
  std::size_t max_bytes;
};
constexpr Field kFields[] = {
    {"session_id", "session", &Event::session, kMaxNameBytes},
    {"transcript_path", "transcript", &Event::transcript, kMaxNameBytes},
    {"cwd", "cwd", &Event::working_directory, kMaxNameBytes},
    {"", "turn", &Event::turn, kMaxNameBytes},
    {"agent_id", "subagent", &Event::subagent, kMaxNameBytes},
    {"prompt", "prompt", &Event::prompt, kMaxPromptBytes},
    {"tool_name", "tool", &Event::tool, kMaxNameBytes},
    {"tool_use_id", "toolUseId", &Event::tool_use_id, kMaxNameBytes},
    {"", "toolInput", &Event::tool_input, kMaxToolInputBytes},
    {"", "toolResponse", &Event::tool_response, kMaxToolResponseBytes},
    {"", "text", &Event::text, kMaxTextBytes},
    {"", "reason", &Event::reason, kMaxNameBytes},
    {"model", "model", &Event::model, kMaxNameBytes},
    {"permission_mode", "permissionMode", &Event::permission_mode, kMaxNameBytes},
};

struct Flag {
  std::string_view theirs;
  std::string_view ours;
  bool Event::* member;
};
constexpr Flag kFlags[] = {
    {"", "toolInputCut", &Event::tool_input_cut},
    {"", "textCut", &Event::text_cut},
    {"stop_hook_active", "stopActive", &Event::stop_active},
    {"final", "final", &Event::final},
};

/// True when something had to go.
bool cut_to(std::string& text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return false;
  text.resize(text::cut_at_letter(text, max_bytes).size());
  return true;
}

/// Moves a string out of the payload; false when there is none under that name.
bool take(json::object& payload, std::string_view name, std::string& into) {
  auto text = string_member(payload, name);
  if (!text) return false;
  payload.erase(name);
  into = *std::move(text);
  return true;
}

/// Any value, as JSON text; true when it was cut.
bool take_json(json::object& payload, std::string_view name, std::size_t max_bytes, std::string& into) {
  const auto* value = payload.if_contains(name);
  if (value == nullptr) return false;
  into = json::serialize(*value);
  payload.erase(name);
  return cut_to(into, max_bytes);
}

void take_text(json::object& payload, Event& event) {
  switch (event.kind) {
    case EventKind::TurnEnd:
      // Gemini's prompt_response joins the pieces of a stream wrongly, with blanks in mid-word: it is nobody's words.
      payload.erase("prompt_response");
      [[fallthrough]];
    case EventKind::TurnFailed: take(payload, "last_assistant_message", event.text); break;
    case EventKind::Display: take(payload, "delta", event.text); break;
    case EventKind::Notification: take(payload, "message", event.text); break;
    case EventKind::SessionStart:
    case EventKind::Prompt:
    case EventKind::BeforeTool:
    case EventKind::AfterTool:
    case EventKind::Permission:
    case EventKind::Interrupt:
    case EventKind::SessionEnd:
    case EventKind::Other: break;
  }
  event.text_cut = cut_to(event.text, kMaxTextBytes);
}

void take_reason(json::object& payload, Event& event) {
  for (const auto* name : {"error", "reason", "notification_type", "source", "trigger"})
    if (take(payload, name, event.reason)) return;
}

json::object bounded(json::object&& payload) {
  json::object rest;
  std::size_t bytes = 0;
  for (auto& member : payload) {
    const auto size = json::serialize(member.value()).size() + json::serialize(member.key()).size() + 2;
    if (bytes + size > kMaxRestBytes) continue;
    bytes += size;
    rest[member.key()] = std::move(member.value());
  }
  return rest;
}

Result<json::object> read_payload(std::string_view payload) {
  if (payload.size() > kMaxPayloadBytes)
    return fail(format("the hook's JSON has more than {} MiB; it is left unread", kMaxPayloadBytes >> 20));
  auto parsed = parse_json_object(payload);
  return parsed ? parsed : parse_json_object(repaired(payload));
}

template <std::size_t N>
std::optional<std::size_t> index_of(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto* found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

std::string_view name_of(EventKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
std::optional<EventKind> event_kind_named(std::string_view name) {
  const auto index = index_of(kKinds, name);
  return index ? std::optional{static_cast<EventKind>(*index)} : std::nullopt;
}

Result<Event> parse_event(Agent agent, std::string_view text) {
  auto payload = RELAY_TRY(read_payload(text));
  Event event{.agent = agent};
  if (!take(payload, "hook_event_name", event.name) || event.name.empty())
    return fail("the hook's JSON does not say which event it is (hook_event_name)");
  cut_to(event.name, kMaxNameBytes);
  event.kind = kind_of(event.name);
  for (const auto& field : kFields) {
    if (field.theirs.empty()) continue;
    take(payload, field.theirs, event.*field.member);
    cut_to(event.*field.member, field.max_bytes);
  }
  for (const auto& flag : kFlags) {
    const auto given = flag.theirs.empty() ? std::nullopt : bool_member(payload, flag.theirs);
    if (!given) continue;
    event.*flag.member = *given;
    payload.erase(flag.theirs);
  }
  take(payload, agent == Agent::Codex ? "turn_id" : "prompt_id", event.turn);
  cut_to(event.turn, kMaxNameBytes);
  event.tool_input_cut = take_json(payload, "tool_input", kMaxToolInputBytes, event.tool_input);
  take_json(payload, "tool_response", kMaxToolResponseBytes, event.tool_response);
  take_text(payload, event);
  take_reason(payload, event);
  cut_to(event.reason, kMaxNameBytes);
  event.rest = bounded(std::move(payload));
  return event;
}

json::object to_json(const Event& event) {
  json::object object{{"agent", name_of(event.agent)}, {"kind", name_of(event.kind)}, {"name", event.name}};
  for (const auto& field : kFields)
    if (!(event.*field.member).empty()) object[field.ours] = event.*field.member;
  for (const auto& flag : kFlags)
    if (event.*flag.member) object[flag.ours] = true;
  if (!event.rest.empty()) object["rest"] = event.rest;
  return object;
}

Result<Event> event_from(const json::object& object) {
  const auto agent = agent_named(string_member(object, "agent").value_or(""));
  if (!agent) return fail("the event's agent is none of claude, codex, gemini");
  Event event{.agent = *agent};
  event.name = string_member(object, "name").value_or("");
  if (event.name.empty()) return fail("the event has no name");
  cut_to(event.name, kMaxNameBytes);
  event.kind = event_kind_named(string_member(object, "kind").value_or("")).value_or(EventKind::Other);
  for (const auto& flag : kFlags) event.*flag.member = bool_member(object, flag.ours).value_or(false);
  for (const auto& field : kFields) {
    auto text = string_member(object, field.ours);
    if (!text) continue;
    const bool cut = cut_to(*text, field.max_bytes);
    if (cut && field.member == &Event::tool_input) event.tool_input_cut = true;
    if (cut && field.member == &Event::text) event.text_cut = true;
    event.*field.member = *std::move(text);
  }
  if (const auto* rest = object_member(object, "rest")) event.rest = bounded(json::object{*rest});
  return event;
}

std::string serialize_within(Event event, std::size_t max_bytes) {
  RELAY_ASSERT(max_bytes >= kLeastSerializedBytes);
  for (;;) {
    auto text = json::serialize(to_json(event));
    if (text.size() <= max_bytes) return text;
    auto* longest = std::ranges::max({&event.text, &event.prompt, &event.tool_input, &event.tool_response}, {},
                                     [](const std::string* field) { return field->size(); });
    cut_to(*longest, longest->size() / 2);
    if (longest == &event.tool_input) event.tool_input_cut = true;
    if (longest == &event.text) event.text_cut = true;
  }
}

}  // namespace relay::hooks
