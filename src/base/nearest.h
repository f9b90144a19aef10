/// "Did you mean …?": what a mistyped name was probably meant to be. Agents, commands, options and settings all ask.
#pragma once

#include <string_view>
#include <vector>

namespace relay {

/// At most this many names are compared, so that a wrong address in a crowd stays cheap.
inline constexpr std::size_t kMaxNamesCompared = 4'096;

/// Up to `most` of `known`, nearest first by edit distance (case does not count, swapped neighbours are one slip), none
/// that is too far to be a slip of the fingers.
std::vector<std::string_view> nearest_names(std::string_view wanted, const std::vector<std::string_view>& known,
                                            std::size_t most = 3);

}  // namespace relay
