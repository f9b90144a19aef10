/// What an agent asks, and what is decided about it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "events/prompt_events.h"

namespace relay::permissions {

using events::RiskLevel;

struct PermissionRequest {
  std::string agent = {};
  std::string cli = {};
  std::string tool = {};                      // as the agent calls it
  std::optional<std::string> command = {};    // of a shell, whole; absent when only a part of it is known
  std::optional<std::string> file_path = {};  // to be read or changed
  std::string description = {};               // in the agent's words
  std::string directory = {};                 // where the agent works, absolute; empty: not known
};

enum class Action : std::uint8_t { Approve, Deny, Ask };

struct Decision {
  Action action = Action::Ask;
  RiskLevel risk = RiskLevel::Medium;
  std::string rule = {};                             // which rule said so, in words
  std::string risk_reason = {};                      // what the risk is, in words; empty: nothing in particular
  std::optional<std::chrono::seconds> timeout = {};  // for how long a person may be asked
};

}  // namespace relay::permissions

namespace relay::schema {

template <>
inline constexpr auto kChoices<permissions::Action> =
    std::array{Choice{permissions::Action::Approve, "approve"}, Choice{permissions::Action::Deny, "deny"},
               Choice{permissions::Action::Ask, "ask"}};

}  // namespace relay::schema
