/// The permissions of config.toml: a preset and a person's own rules.
///
/// Two forms are read. `[permissions]` with `preset` and `[[permissions.rules]]`; or `[[permissions]]`, a list of rules
/// alone. TOML allows one of them in a file.
#pragma once

#include <string_view>

#include "permissions/policy.h"

namespace relay::permissions {

inline constexpr std::size_t kMaxRules = 500;

/// The policy of a whole config.toml; what else is in it is passed over. `path` is for sentences only: an error begins
/// with `path:line:column`. Whoever gets one takes `Policy{}`.
Result<Policy> parse_policy(std::string_view toml, std::string_view path = "config.toml");

}  // namespace relay::permissions
