#include "hooks/response.h"

#include <array>

#include "base/format.h"
#include "text/utf8.h"

namespace relay::hooks {
namespace {

constexpr std::array<std::string_view, 3> kVerdicts = {"none", "approve", "deny"};

json::object specific(const HookEvent& event, std::string_view member, json::value value) {
  return {{"hookSpecificOutput", json::object{{"hookEventName", event.name}, {member, std::move(value)}}}};
}

/// Empty when it cannot be said.
json::object decision_of(const HookEvent& event, const HookResponse& answer) {
  if (event.agent == AgentCli::Gemini || answer.verdict == HookDecision::None) return {};
  if (answer.verdict == HookDecision::Deny) {
    json::object decision{{"behavior", "deny"}};
    if (!answer.message.empty()) decision["message"] = answer.message;
    return decision;
  }
  json::object decision{{"behavior", "allow"}};
  if (answer.updated_input.empty()) return decision;
  auto input = parse_json_object(answer.updated_input);
  if (event.agent != AgentCli::Claude || !input) return {};
  decision["updatedInput"] = *std::move(input);
  return decision;
}

}  // namespace

json::object to_json(const HookResponse& answer) {
  json::object object;
  if (!answer.context.empty()) object["context"] = answer.context;
  if (answer.verdict != HookDecision::None) object["decision"] = kVerdicts[static_cast<std::size_t>(answer.verdict)];
  if (!answer.message.empty()) object["message"] = answer.message;
  if (!answer.updated_input.empty()) object["updatedInput"] = answer.updated_input;
  return object;
}

Result<HookResponse> answer_from(const json::object& object) {
  HookResponse answer;
  for (const auto& [name, field] : {std::pair{"context", &HookResponse::context},
                                    {"message", &HookResponse::message},
                                    {"updatedInput", &HookResponse::updated_input}}) {
    if (!object.contains(name)) continue;
    auto text = string_member(object, name);
    if (!text) return fail(format("the answer's {} is no text", name));
    answer.*field = *std::move(text);
  }
  if (!object.contains("decision")) return answer;
  const auto verdict = string_member(object, "decision").value_or("");
  for (std::size_t i = 0; i < kVerdicts.size(); ++i) {
    if (verdict != kVerdicts[i]) continue;
    answer.verdict = static_cast<HookDecision>(i);
    return answer;
  }
  return fail("the answer's decision is none of none, approve, deny");
}

bool takes_context(const HookEvent& event) {
  switch (event.kind) {
    case HookEventKind::SessionStart:
    case HookEventKind::Prompt: return true;
    case HookEventKind::BeforeTool: return event.agent != AgentCli::Gemini;
    case HookEventKind::AfterTool: return event.agent != AgentCli::Codex || event.name == "PostToolUse";
    case HookEventKind::Permission:
    case HookEventKind::Notification:
    case HookEventKind::TurnEnd:  // a text there would start another turn
    case HookEventKind::TurnFailed:
    case HookEventKind::Display:
    case HookEventKind::Interrupt:
    case HookEventKind::SessionEnd:
    case HookEventKind::Other: return false;
  }
  return false;
}

std::string write_response(const HookEvent& event, const HookResponse& answer) {
  if (event.kind == HookEventKind::Permission) {
    auto decision = decision_of(event, answer);
    return decision.empty() ? std::string{} : json::serialize(specific(event, "decision", std::move(decision)));
  }
  if (answer.context.empty() || !takes_context(event)) return {};
  const auto context = text::truncate_utf8(answer.context, kMaxContextBytes);
  return json::serialize(specific(event, "additionalContext", json::string{context.data(), context.size()}));
}

}  // namespace relay::hooks
