#include "hooks/response.h"

#include <array>

#include "base/format.h"
#include "text/utf8.h"

namespace relay::hooks {
namespace {

constexpr std::array<std::string_view, 3> kDecisions = {"none", "approve", "deny"};

json::object specific(const HookEvent& event, std::string_view member, json::value value) {
  return {{"hookSpecificOutput", json::object{{"hookEventName", event.name}, {member, std::move(value)}}}};
}

/// Empty when the agent has no form for the decision.
json::object decision_json(const HookEvent& event, const HookResponse& response) {
  if (event.agent == AgentCli::Gemini || response.decision == HookDecision::None) return {};
  if (response.decision == HookDecision::Deny) {
    json::object decision{{"behavior", "deny"}};
    if (!response.message.empty()) decision["message"] = response.message;
    return decision;
  }
  json::object decision{{"behavior", "allow"}};
  if (response.updated_input.empty()) return decision;
  auto input = parse_json_object(response.updated_input);
  if (event.agent != AgentCli::Claude || !input) return {};
  decision["updatedInput"] = *std::move(input);
  return decision;
}

}  // namespace

json::object to_json(const HookResponse& response) {
  json::object object;
  if (!response.context.empty()) object["context"] = response.context;
  if (response.decision != HookDecision::None)
    object["decision"] = kDecisions[static_cast<std::size_t>(response.decision)];
  if (!response.message.empty()) object["message"] = response.message;
  if (!response.updated_input.empty()) object["updatedInput"] = response.updated_input;
  return object;
}

Result<HookResponse> response_from(const json::object& object) {
  HookResponse response;
  for (const auto& [name, field] : {std::pair{"context", &HookResponse::context},
                                    {"message", &HookResponse::message},
                                    {"updatedInput", &HookResponse::updated_input}}) {
    if (!object.contains(name)) continue;
    auto text = string_member(object, name);
    if (!text) return fail(format("the response's {} is not a string", name));
    response.*field = *std::move(text);
  }
  if (!object.contains("decision")) return response;
  const auto name = string_member(object, "decision").value_or("");
  for (std::size_t i = 0; i < kDecisions.size(); ++i) {
    if (name != kDecisions[i]) continue;
    response.decision = static_cast<HookDecision>(i);
    return response;
  }
  return fail("the response's decision must be none, approve or deny");
}

bool accepts_context(const HookEvent& event) {
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

std::string write_response(const HookEvent& event, const HookResponse& response) {
  if (event.kind == HookEventKind::Permission) {
    auto decision = decision_json(event, response);
    return decision.empty() ? std::string{} : json::serialize(specific(event, "decision", std::move(decision)));
  }
  if (response.context.empty() || !accepts_context(event)) return {};
  const auto context = text::truncate_utf8(response.context, kMaxContextBytes);
  return json::serialize(specific(event, "additionalContext", json::string{context.data(), context.size()}));
}

}  // namespace relay::hooks
