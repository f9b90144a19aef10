/// Ready-made rules that the user switches on by name: `[permissions] preset = "read-only"`.
///
/// Why none is on by default: without a preset an agent prompts exactly as without the relay.
/// Threading: immutable; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "permissions/rule.h"

namespace relay::permissions {

inline constexpr std::string_view kNoPreset = "none";
/// Approves reading, listing, searching, `ls`, `pwd`, and git's status, log and diff; asks about possible secrets.
inline constexpr std::string_view kReadOnlyPreset = "read-only";

/// Null when there is no preset of that name.
const std::vector<Rule>* preset_rules(std::string_view name);

}  // namespace relay::permissions
