#include "api/handlers/handlers.h"
#include "api/handlers/prompt_bodies.h"
#include "api/handlers/workspace_bodies.h"

namespace relay::api {
namespace {

using protocol::MessageType;

/// One of the two lists, as the daemon told it.
void list_prompts(WorkspaceClient& relay, std::string_view list, json::object which, Call call) {
  ask(relay, MessageType::Prompts, std::move(which), std::move(call), [list](Call asked, const json::object& answer) {
    const auto* rows = array_member(answer, list);
    asked.answer(200, json::object{{list, rows == nullptr ? json::array{} : *rows}});
  });
}

/// An agent that was never here is a mistake, which the daemon tells, not an empty list.
void list_prompts_of(WorkspaceClient& relay, std::string_view list, Call call) {
  json::object which = {{"agent", call.value("name")}};
  list_prompts(relay, list, std::move(which), std::move(call));
}

void answer_prompt(WorkspaceClient& relay, json::object payload, Call call) {
  payload["agent"] = call.value("name");
  payload["request"] = call.value("requestId");
  ask(relay, MessageType::Answer, std::move(payload), std::move(call),
      [](Call asked, const json::object&) { asked.answer(200, SuccessBody{}); });
}

void decide(WorkspaceClient& relay, std::string_view decision, Call call) {
  const auto word = call.body_as<PermissionDecision>();
  if (!word) return call.refuse(word.error());
  json::object payload = {{"decision", decision}};
  if (word->reason) payload["reason"] = *word->reason;
  if (word->by) payload["by"] = *word->by;
  answer_prompt(relay, std::move(payload), std::move(call));
}

}  // namespace

void list_permissions(Api&, WorkspaceHandle workspace, Call call) {
  list_prompts_of(workspace.relay, "permissions", std::move(call));
}
void list_all_permissions(Api&, WorkspaceHandle workspace, Call call) {
  list_prompts(workspace.relay, "permissions", {}, std::move(call));
}
void approve_permission(Api&, WorkspaceHandle workspace, Call call) {
  decide(workspace.relay, "approve", std::move(call));
}
void deny_permission(Api&, WorkspaceHandle workspace, Call call) { decide(workspace.relay, "deny", std::move(call)); }

void list_questions(Api&, WorkspaceHandle workspace, Call call) {
  list_prompts_of(workspace.relay, "questions", std::move(call));
}
void list_all_questions(Api&, WorkspaceHandle workspace, Call call) {
  list_prompts(workspace.relay, "questions", {}, std::move(call));
}

void answer_question(Api&, WorkspaceHandle workspace, Call call) {
  const auto said = call.body_as<QuestionAnswer>();
  if (!said) return call.refuse(said.error());
  if (const auto fits = said->check(); !fits) return call.refuse(bad_request(fits.error().message()));
  json::object payload;
  payload["answers"] = said->answers ? json::array(said->answers->begin(), said->answers->end())
                                     : json::array{json::value(*said->answer)};
  if (said->by) payload["by"] = *said->by;
  answer_prompt(workspace.relay, std::move(payload), std::move(call));
}

}  // namespace relay::api
