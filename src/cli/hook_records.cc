#include "cli/hook_records.h"

namespace relay::cli {
namespace {

using hooks::EventKind;

constexpr std::string_view kRateLimit = "rate_limit";  // Claude's word

capture::Kind kind_of(const hooks::Event& event) {
  switch (event.kind) {
    case EventKind::SessionStart: return capture::Kind::SessionStart;
    case EventKind::Prompt: return capture::Kind::Prompt;
    case EventKind::BeforeTool: return capture::Kind::ToolCall;
    case EventKind::AfterTool: return capture::Kind::ToolResult;
    case EventKind::Permission: return capture::Kind::Permission;
    case EventKind::Notification: return capture::Kind::Notification;
    case EventKind::TurnEnd: return capture::Kind::TurnEnd;
    case EventKind::TurnFailed: return event.reason == kRateLimit ? capture::Kind::RateLimited : capture::Kind::Failed;
    case EventKind::Interrupt: return capture::Kind::Interrupt;
    case EventKind::SessionEnd: return capture::Kind::SessionEnd;
    case EventKind::Display:
    case EventKind::Other: return capture::Kind::Other;
  }
  return capture::Kind::Other;
}

void put(json::object& data, std::string_view name, const std::string& text) {
  if (!text.empty()) data[name] = text;
}

/// As the value it is, so that secrets in it are found by their names too; as text where it was cut.
void put_json(json::object& data, std::string_view name, const std::string& text) {
  if (text.empty()) return;
  auto value = parse_json(text);
  data[name] = value ? *std::move(value) : json::value(text);
}

}  // namespace

std::vector<capture::Record> records_of(const hooks::Event& event, const HookCaller& caller) {
  if (event.kind == EventKind::Display) return {};  // pieces of what comes whole at the end of the turn
  const capture::Source source{.session = event.session,
                               .agent = std::string{hooks::name_of(event.agent)},
                               .working_directory = event.working_directory,
                               .name = caller.name};
  json::object common{{"event", event.name}};
  put(common, "turn", event.turn);
  put(common, "subagent", event.subagent);

  std::vector<capture::Record> records;
  const bool ended = event.kind == EventKind::TurnEnd;
  if (ended && !event.text.empty()) {
    auto data = common;
    put(data, "text", event.text);
    records.push_back({source, capture::Kind::Message, std::move(data)});
  }
  auto data = std::move(common);
  put(data, "reason", event.reason);
  put(data, "model", event.model);
  if (event.kind == EventKind::SessionStart || event.kind == EventKind::Prompt) {
    put(data, "transcript", event.transcript);
    if (caller.pid > 0) data["pid"] = caller.pid;
  }
  if (event.kind == EventKind::Permission) put(data, "mode", event.permission_mode);
  put(data, "tool", event.tool);
  put(data, "id", event.tool_use_id);
  put_json(data, "input", event.tool_input);
  put_json(data, "response", event.tool_response);
  if (event.kind == EventKind::Prompt) put(data, "text", event.prompt);
  if (!ended) put(data, "text", event.text);
  if (event.kind == EventKind::Other && !event.rest.empty()) data["rest"] = event.rest;
  records.push_back({source, kind_of(event), std::move(data)});
  return records;
}

}  // namespace relay::cli
