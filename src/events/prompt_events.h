/// What agents ask a person: may I, and which.
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
    "PermissionRequested", "An agent asks whether it may do something.",
    member<&events::PermissionRequested::request_id>("requestId", "names the request", {.min = 1, .max = 256}),
    member<&events::PermissionRequested::tool>("tool", "what it wants to use: bash, edit, ...", {.max = 256}),
    member<&events::PermissionRequested::command>("command", "of a shell", {.max = 64 << 10}),
    member<&events::PermissionRequested::file_path>("filePath", "to be read or changed", {.max = 4096}),
    member<&events::PermissionRequested::directory>("directory", "where the agent is; absent where that is not told",
                                                    {.max = 4096}),
    member<&events::PermissionRequested::description>("description", "in the agent's words", {.max = 64 << 10}),
    member<&events::PermissionRequested::risk_level>("riskLevel", "what could go wrong"),
    member<&events::PermissionRequested::can_answer>("canAnswer", "false: at the agent's own screen only"),
    member<&events::PermissionRequested::partial>("partial", "true: only a part of what it would do is told here"));

template <>
inline constexpr auto kObject<events::PermissionResolved> =
    object("PermissionResolved", "A request for permission is answered, or gone.",
           member<&events::PermissionResolved::request_id>("requestId", "which request", {.min = 1, .max = 256}),
           member<&events::PermissionResolved::resolution>("resolution", "withdrawn: the agent does not ask any more"),
           member<&events::PermissionResolved::resolved_by>("resolvedBy", "an agent's name, human, policy, or nobody",
                                                            {.max = 256}),
           member<&events::PermissionResolved::resolved_at>("resolvedAt", "when, in Unix milliseconds"),
           member<&events::PermissionResolved::reason>("reason", "given with the answer", {.max = 4096}));

template <>
inline constexpr auto kObject<events::QuestionRequested> =
    object("QuestionRequested", "An agent asks a question.",
           member<&events::QuestionRequested::question_id>("questionId", "names the question", {.min = 1, .max = 256}),
           member<&events::QuestionRequested::question>("question", "in the agent's words", {.max = 64 << 10}),
           member<&events::QuestionRequested::options>("options", "the answers to choose from", {.max = 256}),
           member<&events::QuestionRequested::default_answer>("defaultAnswer", "what Enter would choose"),
           member<&events::QuestionRequested::can_answer>("canAnswer", "false: at the agent's own screen only"));

template <>
inline constexpr auto kObject<events::QuestionResolved> = object(
    "QuestionResolved", "A question is answered, or gone.",
    member<&events::QuestionResolved::question_id>("questionId", "which question", {.min = 1, .max = 256}),
    member<&events::QuestionResolved::answer>("answer", "absent when it is gone, or answered at the agent's screen"),
    member<&events::QuestionResolved::resolved_by>("resolvedBy", "an agent's name, human, policy, or nobody",
                                                   {.max = 256}));

}  // namespace relay::schema
