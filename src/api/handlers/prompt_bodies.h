/// Request and response bodies about permission requests and questions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "events/prompt_events.h"
#include "schema/schema.h"

namespace relay::api {

struct PermissionBody {
  std::string request_id = {};
  std::string agent = {};
  std::string session_id = {};
  std::string tool = {};
  schema::Nullable<std::string> command = {};
  schema::Nullable<std::string> file_path = {};
  std::optional<std::string> directory = {};
  std::string description = {};
  events::RiskLevel risk_level = events::RiskLevel::Medium;
  std::optional<std::string> risk_reason = {};
  std::optional<std::string> rule = {};
  WallMs requested_at = 0;
  std::optional<WallMs> expires_at = {};
  bool can_answer = true;
  std::optional<bool> partial = {};
};
struct PermissionList {
  std::vector<PermissionBody> permissions = {};
};

struct QuestionBody {
  std::string question_id = {};
  std::string agent = {};
  std::string session_id = {};
  std::string question = {};
  std::optional<std::vector<std::string>> options = {};
  std::optional<std::string> default_answer = {};
  WallMs requested_at = 0;
  bool can_answer = true;
};
struct QuestionList {
  std::vector<QuestionBody> questions = {};
};

struct PermissionDecision {
  std::optional<std::string> reason = {};
  std::optional<std::string> by = {};
};
struct QuestionAnswer {
  std::optional<std::string> answer = {};
  std::optional<std::vector<std::string>> answers = {};
  std::optional<std::string> by = {};

  [[nodiscard]] Result<void> check() const {
    if (answer.has_value() == answers.has_value()) return fail("give one of \"answer\" and \"answers\"");
    return {};
  }
};

}  // namespace relay::api

namespace relay::schema {

template <>
inline constexpr auto kObject<api::PermissionBody> =
    object("Permission", "An open permission request.",
           member<&api::PermissionBody::request_id>("requestId", "the id to answer it with"),
           member<&api::PermissionBody::agent>("agent", "the agent that asks"),
           member<&api::PermissionBody::session_id>("sessionId", "the agent's session"),
           member<&api::PermissionBody::tool>("tool", "the tool it wants to use"),
           member<&api::PermissionBody::command>("command", "the command it wants to run, or null"),
           member<&api::PermissionBody::file_path>("filePath", "the file it wants to access, or null"),
           member<&api::PermissionBody::directory>("directory",
                                                   "the agent's working directory; absent when it is not reported"),
           member<&api::PermissionBody::description>("description", "a description of the request"),
           member<&api::PermissionBody::risk_level>("riskLevel", "the estimated risk"),
           member<&api::PermissionBody::risk_reason>("riskReason", "why it is risky"),
           member<&api::PermissionBody::rule>("rule", "the rule that left the decision to the user"),
           member<&api::PermissionBody::requested_at>("requestedAt", "milliseconds since 1970"),
           member<&api::PermissionBody::expires_at>(
               "expiresAt", "when the agent decides without an answer; milliseconds since 1970"),
           member<&api::PermissionBody::can_answer>("canAnswer", "false: only at the agent's own screen"),
           member<&api::PermissionBody::partial>("partial", "true: the request is longer than what is shown"));
template <>
inline constexpr auto kObject<api::PermissionList> =
    object("PermissionList", "The open permission requests.",
           member<&api::PermissionList::permissions>("permissions", "oldest first"));

template <>
inline constexpr auto kObject<api::QuestionBody> = object(
    "Question", "An open question.", member<&api::QuestionBody::question_id>("questionId", "the id to answer it with"),
    member<&api::QuestionBody::agent>("agent", "the agent that asks"),
    member<&api::QuestionBody::session_id>("sessionId", "the agent's session"),
    member<&api::QuestionBody::question>("question", "the text of the question"),
    member<&api::QuestionBody::options>("options", "the choices it offers"),
    member<&api::QuestionBody::default_answer>("defaultAnswer", "the answer it preselects"),
    member<&api::QuestionBody::requested_at>("requestedAt", "milliseconds since 1970"),
    member<&api::QuestionBody::can_answer>("canAnswer", "false: only at the agent's own screen"));
template <>
inline constexpr auto kObject<api::QuestionList> =
    object("QuestionList", "The open questions.", member<&api::QuestionList::questions>("questions", "oldest first"));

template <>
inline constexpr auto kObject<api::PermissionDecision> =
    object("PermissionDecision", "The decision on a permission request.",
           member<&api::PermissionDecision::reason>("reason", "passed to the agent", {.max = 4096}),
           member<&api::PermissionDecision::by>("by", "who decides; `human` when absent", {.max = 128}));
template <>
inline constexpr auto kObject<api::QuestionAnswer> = object(
    "QuestionAnswer", "The answer to a question: give `answer` or `answers`.",
    member<&api::QuestionAnswer::answer>("answer", "free text, or one of the options", {.max = 65536}),
    member<&api::QuestionAnswer::answers>("answers", "one answer per question, when it asked several", {.max = 64}),
    member<&api::QuestionAnswer::by>("by", "who answers; `human` when absent", {.max = 128}));

}  // namespace relay::schema
