/// Two texts as a unified diff, so that a person sees what will be written before it is.
#pragma once

#include <string>
#include <string_view>

namespace relay::hooks {

/// Empty when they are the same. An old text of no lines is a new file (`/dev/null`), and a new one of none a removed
/// one. At most `kMaxDiffLines` changed lines are looked for; beyond that the whole middle is shown as replaced.
std::string unified_diff(std::string_view before, std::string_view after, std::string_view path);

inline constexpr std::size_t kMaxDiffLines = 600;

}  // namespace relay::hooks
