/// Two texts as a unified diff, so that the user sees a change before it is written.
#pragma once

#include <string>
#include <string_view>

namespace relay::hooks {

/// Empty when the texts are equal. An empty old text is a new file (`/dev/null`), an empty new one a removed file. With
/// more than `kMaxDiffLines` changed lines the whole middle is printed as replaced.
std::string unified_diff(std::string_view before, std::string_view after, std::string_view path);

inline constexpr std::size_t kMaxDiffLines = 600;

}  // namespace relay::hooks
