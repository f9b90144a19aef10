/// The permissions of config.toml: a preset and the user's own rules.
///
/// Two forms are accepted: `[permissions]` with `preset` and `[[permissions.rules]]`; or `[[permissions]]`, a list of
/// rules alone. TOML allows only one of them in a file.
#pragma once

#include <string_view>

#include "permissions/policy.h"

namespace relay::permissions {

inline constexpr std::size_t kMaxRules = 500;

/// The policy of a whole config.toml; other tables are ignored. `path` is used in errors only, which start with
/// `path:line:column`. After an error the caller uses `Policy{}`.
Result<Policy> parse_policy(std::string_view toml, std::string_view path = "config.toml");

}  // namespace relay::permissions
