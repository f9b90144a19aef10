/// Ready-made rules that a person switches on by name: `[permissions] preset = "read-only"`.
///
/// Why none is on by default: an agent wrapped by the relay asks what it asks without it.
/// Threading: immutable; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "permissions/rule.h"

namespace relay::permissions {

inline constexpr std::string_view kNoPreset = "none";
/// Reading, listing, searching, `ls`, `pwd`, git's status, log and diff are approved; possible secrets are asked.
inline constexpr std::string_view kReadOnlyPreset = "read-only";

/// Null when there is no preset of that name.
const std::vector<Rule>* preset_rules(std::string_view name);

}  // namespace relay::permissions
