/// A permission request of an agent, and the decision about it.
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
  std::string tool = {};                      // the agent's name for it
  std::optional<std::string> command = {};    // the whole shell command; absent when only a part is reported
  std::optional<std::string> file_path = {};  // to be read or changed
  std::string description = {};               // the agent's description
  std::string directory = {};                 // where the agent works, absolute; empty: unknown
};

enum class Action : std::uint8_t { Approve, Deny, Ask };

struct Decision {
  Action action = Action::Ask;
  RiskLevel risk = RiskLevel::Medium;
  std::string rule = {};         // the deciding rule: `config.toml:12`, a preset, or why none applies
  std::string risk_reason = {};  // one phrase; empty: no particular risk
  std::optional<std::chrono::seconds> timeout = {};  // how long the user may take
};

}  // namespace relay::permissions

namespace relay::schema {

template <>
inline constexpr auto kChoices<permissions::Action> =
    std::array{Choice{permissions::Action::Approve, "approve"}, Choice{permissions::Action::Deny, "deny"},
               Choice{permissions::Action::Ask, "ask"}};

}  // namespace relay::schema
