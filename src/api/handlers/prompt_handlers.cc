#include "api/handlers/handlers.h"
#include "api/handlers/prompt_bodies.h"
#include "api/handlers/workspace_bodies.h"

namespace relay::api {
namespace {

using protocol::MessageType;

/// Responds with one of the two lists of the PROMPTS response.
void list_prompts(WorkspaceClient& client, std::string_view list, json::object which, Call call) {
  send_request(client, MessageType::Prompts, std::move(which), std::move(call),
               [list](Call reply, const json::object& response) {
                 const auto* rows = array_member(response, list);
                 reply.answer(200, json::object{{list, rows == nullptr ? json::array{} : *rows}});
               });
}

/// An unknown agent is an error of the daemon, not an empty list.
void list_prompts_of(WorkspaceClient& client, std::string_view list, Call call) {
  json::object which = {{"agent", call.value("name")}};
  list_prompts(client, list, std::move(which), std::move(call));
}

void answer_prompt(WorkspaceClient& client, json::object payload, Call call) {
  payload["agent"] = call.value("name");
  payload["request"] = call.value("requestId");
  send_request(client, MessageType::Answer, std::move(payload), std::move(call),
               [](Call reply, const json::object&) { reply.answer(200, SuccessBody{}); });
}

void decide(WorkspaceClient& client, std::string_view decision, Call call) {
  const auto body = call.body_as<PermissionDecision>();
  if (!body) return call.refuse(body.error());
  json::object payload = {{"decision", decision}};
  if (body->reason) payload["reason"] = *body->reason;
  if (body->by) payload["by"] = *body->by;
  answer_prompt(client, std::move(payload), std::move(call));
}

}  // namespace

void list_permissions(Api&, WorkspaceHandle workspace, Call call) {
  list_prompts_of(workspace.client, "permissions", std::move(call));
}
void list_all_permissions(Api&, WorkspaceHandle workspace, Call call) {
  list_prompts(workspace.client, "permissions", {}, std::move(call));
}
void approve_permission(Api&, WorkspaceHandle workspace, Call call) {
  decide(workspace.client, "approve", std::move(call));
}
void deny_permission(Api&, WorkspaceHandle workspace, Call call) { decide(workspace.client, "deny", std::move(call)); }

void list_questions(Api&, WorkspaceHandle workspace, Call call) {
  list_prompts_of(workspace.client, "questions", std::move(call));
}
void list_all_questions(Api&, WorkspaceHandle workspace, Call call) {
  list_prompts(workspace.client, "questions", {}, std::move(call));
}

void answer_question(Api&, WorkspaceHandle workspace, Call call) {
  const auto answer = call.body_as<QuestionAnswer>();
  if (!answer) return call.refuse(answer.error());
  if (const auto fits = answer->check(); !fits) return call.refuse(bad_request(fits.error().message()));
  json::object payload;
  payload["answers"] = answer->answers ? json::array(answer->answers->begin(), answer->answers->end())
                                       : json::array{json::value(*answer->answer)};
  if (answer->by) payload["by"] = *answer->by;
  answer_prompt(workspace.client, std::move(payload), std::move(call));
}

}  // namespace relay::api
