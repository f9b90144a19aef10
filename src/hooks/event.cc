#include "hooks/event.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "hooks/json_repair.h"
#include "text/utf8.h"

namespace relay::hooks {
namespace {

constexpr std::array<std::string_view, 12> kKinds = {"sessionStart", "prompt",       "beforeTool", "afterTool",
                                                     "permission",   "notification", "turnEnd",    "turnFailed",
                                                     "display",      "interrupt",    "sessionEnd", "other"};

struct KnownEvent {
  std::string_view name;
  HookEventKind kind;
};
constexpr KnownEvent kKnownEvents[] = {
    {"SessionStart", HookEventKind::SessionStart},
    {"UserPromptSubmit", HookEventKind::Prompt},
    {"BeforeAgent", HookEventKind::Prompt},
    {"PreToolUse", HookEventKind::BeforeTool},
    {"BeforeTool", HookEventKind::BeforeTool},
    {"PostToolUse", HookEventKind::AfterTool},
    {"PostToolUseFailure", HookEventKind::AfterTool},
    {"AfterTool", HookEventKind::AfterTool},
    {"PermissionRequest", HookEventKind::Permission},
    {"Notification", HookEventKind::Notification},
    {"Stop", HookEventKind::TurnEnd},
    {"AfterAgent", HookEventKind::TurnEnd},
    {"StopFailure", HookEventKind::TurnFailed},
    {"MessageDisplay", HookEventKind::Display},
    {"Interrupt", HookEventKind::Interrupt},
    {"SessionEnd", HookEventKind::SessionEnd},
};

HookEventKind kind_of(std::string_view name) {
  const auto* found = std::ranges::find(kKnownEvents, name, &KnownEvent::name);
  return found == std::end(kKnownEvents) ? HookEventKind::Other : found->kind;
}

struct Field {
  std::string_view json_name;  // in the agent's JSON; empty: read by its own code
  std::string_view serialized_name;
  std::string HookEvent::* member;
  std::size_t max_bytes;
};
constexpr Field kFields[] = {
    {"session_id", "session", &HookEvent::session, kMaxNameBytes},
    {"transcript_path", "transcript", &HookEvent::transcript, kMaxNameBytes},
    {"cwd", "cwd", &HookEvent::working_directory, kMaxNameBytes},
    {"", "turn", &HookEvent::turn, kMaxNameBytes},
    {"agent_id", "subagent", &HookEvent::subagent, kMaxNameBytes},
    {"prompt", "prompt", &HookEvent::prompt, kMaxPromptBytes},
    {"tool_name", "tool", &HookEvent::tool, kMaxNameBytes},
    {"tool_use_id", "toolUseId", &HookEvent::tool_use_id, kMaxNameBytes},
    {"", "toolInput", &HookEvent::tool_input, kMaxToolInputBytes},
    {"", "toolResponse", &HookEvent::tool_response, kMaxToolResponseBytes},
    {"", "text", &HookEvent::text, kMaxTextBytes},
    {"", "reason", &HookEvent::reason, kMaxNameBytes},
    {"model", "model", &HookEvent::model, kMaxNameBytes},
    {"permission_mode", "permissionMode", &HookEvent::permission_mode, kMaxNameBytes},
};

struct Flag {
  std::string_view json_name;
  std::string_view serialized_name;
  bool HookEvent::* member;
};
constexpr Flag kFlags[] = {
    {"", "toolInputCut", &HookEvent::tool_input_cut},
    {"", "textCut", &HookEvent::text_cut},
    {"stop_hook_active", "stopActive", &HookEvent::stop_active},
    {"final", "final", &HookEvent::final},
};

/// True if a part was cut.
bool cut_to(std::string& text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return false;
  text.resize(text::truncate_utf8(text, max_bytes).size());
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

/// Any value as JSON text; true when it was cut.
bool take_json(json::object& payload, std::string_view name, std::size_t max_bytes, std::string& into) {
  const auto* value = payload.if_contains(name);
  if (value == nullptr) return false;
  into = json::serialize(*value);
  payload.erase(name);
  return cut_to(into, max_bytes);
}

void take_text(json::object& payload, HookEvent& event) {
  switch (event.kind) {
    case HookEventKind::TurnEnd:
      // Gemini's prompt_response joins the chunks of a stream wrongly, with blanks inside words, so it is never read.
      payload.erase("prompt_response");
      [[fallthrough]];
    case HookEventKind::TurnFailed: take(payload, "last_assistant_message", event.text); break;
    case HookEventKind::Display: take(payload, "delta", event.text); break;
    case HookEventKind::Notification: take(payload, "message", event.text); break;
    case HookEventKind::SessionStart:
    case HookEventKind::Prompt:
    case HookEventKind::BeforeTool:
    case HookEventKind::AfterTool:
    case HookEventKind::Permission:
    case HookEventKind::Interrupt:
    case HookEventKind::SessionEnd:
    case HookEventKind::Other: break;
  }
  event.text_cut = cut_to(event.text, kMaxTextBytes);
}

void take_reason(json::object& payload, HookEvent& event) {
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
    return fail(format("the hook's JSON has more than {} MiB; it is not read", kMaxPayloadBytes >> 20));
  auto parsed = parse_json_object(payload);
  return parsed ? parsed : parse_json_object(repair_json(payload));
}

template <std::size_t N>
std::optional<std::size_t> index_of(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto* found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

std::string_view name_of(HookEventKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
std::optional<HookEventKind> parse_event_kind(std::string_view name) {
  const auto index = index_of(kKinds, name);
  return index ? std::optional{static_cast<HookEventKind>(*index)} : std::nullopt;
}

Result<HookEvent> parse_event(AgentCli agent, std::string_view text) {
  auto payload = RELAY_TRY(read_payload(text));
  HookEvent event{.agent = agent};
  if (!take(payload, "hook_event_name", event.name) || event.name.empty())
    return fail("the hook's JSON has no hook_event_name");
  cut_to(event.name, kMaxNameBytes);
  event.kind = kind_of(event.name);
  for (const auto& field : kFields) {
    if (field.json_name.empty()) continue;
    take(payload, field.json_name, event.*field.member);
    cut_to(event.*field.member, field.max_bytes);
  }
  for (const auto& flag : kFlags) {
    const auto value = flag.json_name.empty() ? std::nullopt : bool_member(payload, flag.json_name);
    if (!value) continue;
    event.*flag.member = *value;
    payload.erase(flag.json_name);
  }
  take(payload, agent == AgentCli::Codex ? "turn_id" : "prompt_id", event.turn);
  cut_to(event.turn, kMaxNameBytes);
  event.tool_input_cut = take_json(payload, "tool_input", kMaxToolInputBytes, event.tool_input);
  take_json(payload, "tool_response", kMaxToolResponseBytes, event.tool_response);
  take_text(payload, event);
  take_reason(payload, event);
  cut_to(event.reason, kMaxNameBytes);
  event.extra = bounded(std::move(payload));
  return event;
}

json::object to_json(const HookEvent& event) {
  json::object object{{"agent", name_of(event.agent)}, {"kind", name_of(event.kind)}, {"name", event.name}};
  for (const auto& field : kFields)
    if (!(event.*field.member).empty()) object[field.serialized_name] = event.*field.member;
  for (const auto& flag : kFlags)
    if (event.*flag.member) object[flag.serialized_name] = true;
  if (!event.extra.empty()) object["rest"] = event.extra;
  return object;
}

Result<HookEvent> event_from(const json::object& object) {
  const auto agent = parse_agent_cli(string_member(object, "agent").value_or(""));
  if (!agent) return fail("the event's agent must be claude, codex or gemini");
  HookEvent event{.agent = *agent};
  event.name = string_member(object, "name").value_or("");
  if (event.name.empty()) return fail("the event has no name");
  cut_to(event.name, kMaxNameBytes);
  event.kind = parse_event_kind(string_member(object, "kind").value_or("")).value_or(HookEventKind::Other);
  for (const auto& flag : kFlags) event.*flag.member = bool_member(object, flag.serialized_name).value_or(false);
  for (const auto& field : kFields) {
    auto text = string_member(object, field.serialized_name);
    if (!text) continue;
    const bool cut = cut_to(*text, field.max_bytes);
    if (cut && field.member == &HookEvent::tool_input) event.tool_input_cut = true;
    if (cut && field.member == &HookEvent::text) event.text_cut = true;
    event.*field.member = *std::move(text);
  }
  if (const auto* rest = object_member(object, "rest")) event.extra = bounded(json::object{*rest});
  return event;
}

std::string serialize_within(HookEvent event, std::size_t max_bytes) {
  RELAY_ASSERT(max_bytes >= kMinSerializedBytes);
  for (;;) {
    auto text = json::serialize(to_json(event));
    if (text.size() <= max_bytes) return text;
    auto* largest = std::ranges::max({&event.text, &event.prompt, &event.tool_input, &event.tool_response}, {},
                                     [](const std::string* field) { return field->size(); });
    cut_to(*largest, largest->size() / 2);
    if (largest == &event.tool_input) event.tool_input_cut = true;
    if (largest == &event.text) event.text_cut = true;
  }
}

}  // namespace relay::hooks
