#include "cli/agent/hook_records.h"

namespace relay::cli {
namespace {

using hooks::HookEventKind;

constexpr std::string_view kRateLimit = "rate_limit";  // from Claude Code

capture::RecordKind kind_of(const hooks::HookEvent& event) {
  switch (event.kind) {
    case HookEventKind::SessionStart: return capture::RecordKind::SessionStart;
    case HookEventKind::Prompt: return capture::RecordKind::Prompt;
    case HookEventKind::BeforeTool: return capture::RecordKind::ToolCall;
    case HookEventKind::AfterTool: return capture::RecordKind::ToolResult;
    case HookEventKind::Permission: return capture::RecordKind::Permission;
    case HookEventKind::Notification: return capture::RecordKind::Notification;
    case HookEventKind::TurnEnd: return capture::RecordKind::TurnEnd;
    case HookEventKind::TurnFailed:
      return event.reason == kRateLimit ? capture::RecordKind::RateLimited : capture::RecordKind::Failed;
    case HookEventKind::Interrupt: return capture::RecordKind::Interrupt;
    case HookEventKind::SessionEnd: return capture::RecordKind::SessionEnd;
    case HookEventKind::Display:
    case HookEventKind::Other: return capture::RecordKind::Other;
  }
  return capture::RecordKind::Other;
}

void put(json::object& data, std::string_view name, const std::string& text) {
  if (!text.empty()) data[name] = text;
}

/// Puts the parsed value, so that secrets are found by member names too; the text when it was truncated.
void put_json(json::object& data, std::string_view name, const std::string& text) {
  if (text.empty()) return;
  auto value = parse_json(text);
  data[name] = value ? *std::move(value) : json::value(text);
}

}  // namespace

std::vector<capture::Record> records_of(const hooks::HookEvent& event, const HookCaller& caller) {
  if (event.kind == HookEventKind::Display) return {};  // partial text, complete at the end of the turn
  const capture::Source source{.session = event.session,
                               .agent = std::string{hooks::name_of(event.agent)},
                               .working_directory = event.working_directory,
                               .name = caller.name};
  json::object common{{"event", event.name}};
  put(common, "turn", event.turn);
  put(common, "subagent", event.subagent);

  std::vector<capture::Record> records;
  const bool ended = event.kind == HookEventKind::TurnEnd;
  if (ended && !event.text.empty()) {
    auto data = common;
    put(data, "text", event.text);
    records.push_back({source, capture::RecordKind::Message, std::move(data)});
  }
  auto data = std::move(common);
  put(data, "reason", event.reason);
  put(data, "model", event.model);
  if (event.kind == HookEventKind::SessionStart || event.kind == HookEventKind::Prompt) {
    put(data, "transcript", event.transcript);
    if (caller.pid > 0) data["pid"] = caller.pid;
  }
  if (event.kind == HookEventKind::Permission) put(data, "mode", event.permission_mode);
  put(data, "tool", event.tool);
  put(data, "id", event.tool_use_id);
  put_json(data, "input", event.tool_input);
  put_json(data, "response", event.tool_response);
  if (event.kind == HookEventKind::Prompt) put(data, "text", event.prompt);
  if (!ended) put(data, "text", event.text);
  if (event.kind == HookEventKind::Other && !event.extra.empty()) data["rest"] = event.extra;
  records.push_back({source, kind_of(event), std::move(data)});
  return records;
}

}  // namespace relay::cli
