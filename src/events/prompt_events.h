/// Permissions and questions that agents ask of the user.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "schema/schema.h"

namespace relay::events {

enum class RiskLevel : std::uint8_t { Low, Medium, High, Critical };
enum class Resolution : std::uint8_t { Approved, Denied, Timeout, Withdrawn };

struct PermissionRequested {
  std::string request_id = {};
  std::string tool = {};
  std::optional<std::string> command = {};
  std::optional<std::string> file_path = {};
  std::optional<std::string> directory = {};
  std::string description = {};
  RiskLevel risk_level = RiskLevel::Medium;
  std::optional<bool> can_answer = {};
  std::optional<bool> partial = {};

  bool operator==(const PermissionRequested&) const = default;
};

struct PermissionResolved {
  std::string request_id = {};
  Resolution resolution{};
  std::string resolved_by = {};
  WallMs resolved_at = 0;
  std::optional<std::string> reason = {};
};

struct QuestionRequested {
  std::string question_id = {};
  std::string question = {};
  std::optional<std::vector<std::string>> options = {};
  std::optional<std::string> default_answer = {};
  std::optional<bool> can_answer = {};

  bool operator==(const QuestionRequested&) const = default;
};

struct QuestionResolved {
  std::string question_id = {};
  std::optional<std::string> answer = {};
  std::string resolved_by = {};
};

}  // namespace relay::events

namespace relay::schema {

template <>
inline constexpr auto kChoices<events::RiskLevel> =
    std::array{Choice{events::RiskLevel::Low, "low"}, Choice{events::RiskLevel::Medium, "medium"},
               Choice{events::RiskLevel::High, "high"}, Choice{events::RiskLevel::Critical, "critical"}};

template <>
inline constexpr auto kChoices<events::Resolution> =
    std::array{Choice{events::Resolution::Approved, "approved"}, Choice{events::Resolution::Denied, "denied"},
               Choice{events::Resolution::Timeout, "timeout"}, Choice{events::Resolution::Withdrawn, "withdrawn"}};

template <>
inline constexpr auto kObject<events::PermissionRequested> = object(
    "PermissionRequested", "An agent asks for permission to use a tool.",
    member<&events::PermissionRequested::request_id>("requestId", "the id of the request", {.min = 1, .max = 256}),
    member<&events::PermissionRequested::tool>("tool", "the tool: bash, edit, ...", {.max = 256}),
    member<&events::PermissionRequested::command>("command", "the shell command", {.max = 64 << 10}),
    member<&events::PermissionRequested::file_path>("filePath", "the file to be read or changed", {.max = 4096}),
    member<&events::PermissionRequested::directory>(
        "directory", "the agent's working directory; absent when the agent does not report it", {.max = 4096}),
    member<&events::PermissionRequested::description>("description", "the agent's description", {.max = 64 << 10}),
    member<&events::PermissionRequested::risk_level>("riskLevel", "the assessed risk"),
    member<&events::PermissionRequested::can_answer>("canAnswer",
                                                     "false: it can be answered on the agent's screen only"),
    member<&events::PermissionRequested::partial>("partial", "true: this shows only a part of what the tool would do"));

template <>
inline constexpr auto kObject<events::PermissionResolved> = object(
    "PermissionResolved", "A permission request was answered or withdrawn.",
    member<&events::PermissionResolved::request_id>("requestId", "the id of the request", {.min = 1, .max = 256}),
    member<&events::PermissionResolved::resolution>("resolution", "withdrawn: the agent no longer asks"),
    member<&events::PermissionResolved::resolved_by>(
        "resolvedBy", "the name of an agent, `human`, `policy` or `nobody`", {.max = 256}),
    member<&events::PermissionResolved::resolved_at>("resolvedAt", "when, in Unix milliseconds"),
    member<&events::PermissionResolved::reason>("reason", "the reason given with the answer", {.max = 4096}));

template <>
inline constexpr auto kObject<events::QuestionRequested> = object(
    "QuestionRequested", "An agent asks the user a question.",
    member<&events::QuestionRequested::question_id>("questionId", "the id of the question", {.min = 1, .max = 256}),
    member<&events::QuestionRequested::question>("question", "the text of the question", {.max = 64 << 10}),
    member<&events::QuestionRequested::options>("options", "the offered answers", {.max = 256}),
    member<&events::QuestionRequested::default_answer>("defaultAnswer", "the answer that Enter selects"),
    member<&events::QuestionRequested::can_answer>("canAnswer",
                                                   "false: it can be answered on the agent's screen only"));

template <>
inline constexpr auto kObject<events::QuestionResolved> = object(
    "QuestionResolved", "A question was answered or withdrawn.",
    member<&events::QuestionResolved::question_id>("questionId", "the id of the question", {.min = 1, .max = 256}),
    member<&events::QuestionResolved::answer>(
        "answer", "absent when the question was withdrawn or answered on the agent's screen"),
    member<&events::QuestionResolved::resolved_by>("resolvedBy", "the name of an agent, `human`, `policy` or `nobody`",
                                                   {.max = 256}));

}  // namespace relay::schema
