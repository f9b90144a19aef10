/// What agents ask a person, and the answers, as clients read and write them.
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
  std::string query = {};
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
    object("Permission", "What an agent wants to do and may not without somebody's word.",
           member<&api::PermissionBody::request_id>("requestId", "what it is answered by"),
           member<&api::PermissionBody::agent>("agent", "who asks"),
           member<&api::PermissionBody::session_id>("sessionId", "in which life"),
           member<&api::PermissionBody::tool>("tool", "what it wants to use"),
           member<&api::PermissionBody::command>("command", "what it wants to run, if anything"),
           member<&api::PermissionBody::file_path>("filePath", "what it wants to touch, if anything"),
           member<&api::PermissionBody::directory>("directory", "where the agent is; absent where that is not told"),
           member<&api::PermissionBody::description>("description", "in words"),
           member<&api::PermissionBody::risk_level>("riskLevel", "how much could be lost"),
           member<&api::PermissionBody::risk_reason>("riskReason", "why it is risky"),
           member<&api::PermissionBody::rule>("rule", "which rule left it to a person"),
           member<&api::PermissionBody::requested_at>("requestedAt", "milliseconds since 1970"),
           member<&api::PermissionBody::expires_at>("expiresAt", "when it is decided without anybody's word"),
           member<&api::PermissionBody::can_answer>("canAnswer", "false: only at the agent's own screen"),
           member<&api::PermissionBody::partial>("partial", "true: only a part of it is told here"));
template <>
inline constexpr auto kObject<api::PermissionList> = object(
    "PermissionList", "What is asked now.", member<&api::PermissionList::permissions>("permissions", "oldest first"));

template <>
inline constexpr auto kObject<api::QuestionBody> =
    object("Question", "What an agent asks a person.",
           member<&api::QuestionBody::question_id>("questionId", "what it is answered by"),
           member<&api::QuestionBody::agent>("agent", "who asks"),
           member<&api::QuestionBody::session_id>("sessionId", "in which life"),
           member<&api::QuestionBody::query>("question", "its words"),
           member<&api::QuestionBody::options>("options", "what may be chosen"),
           member<&api::QuestionBody::default_answer>("defaultAnswer", "what it takes unless told otherwise"),
           member<&api::QuestionBody::requested_at>("requestedAt", "milliseconds since 1970"),
           member<&api::QuestionBody::can_answer>("canAnswer", "false: only at the agent's own screen"));
template <>
inline constexpr auto kObject<api::QuestionList> =
    object("QuestionList", "What is asked now.", member<&api::QuestionList::questions>("questions", "oldest first"));

template <>
inline constexpr auto kObject<api::PermissionDecision> =
    object("Decision", "A word with a permission.",
           member<&api::PermissionDecision::reason>("reason", "told to the agent", {.max = 4096}),
           member<&api::PermissionDecision::by>("by", "who decides; `human` when absent", {.max = 128}));
template <>
inline constexpr auto kObject<api::QuestionAnswer> =
    object("QuestionAnswer", "The answer to a question: one of the two.",
           member<&api::QuestionAnswer::answer>("answer", "the words, or one of the options", {.max = 65536}),
           member<&api::QuestionAnswer::answers>("answers", "when it asked several things, one for each", {.max = 64}),
           member<&api::QuestionAnswer::by>("by", "who answers; `human` when absent", {.max = 128}));

}  // namespace relay::schema
