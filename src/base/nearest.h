/// "Did you mean …?": known names close to a mistyped one. Agents, commands, options and settings use it.
#pragma once

#include <string_view>
#include <vector>

namespace relay {

/// At most this many names are compared, so that a wrong name stays cheap when many are known.
inline constexpr std::size_t kMaxNamesCompared = 4'096;

/// Up to `max_names` of `known`, nearest first by edit distance (case does not count, swapped neighbours are one edit),
/// no name that is too different to be a typing mistake.
std::vector<std::string_view> nearest_names(std::string_view mistyped, const std::vector<std::string_view>& known,
                                            std::size_t max_names = 3);

}  // namespace relay
