/// Limits of the descriptions that a session sends for display, in bytes: every used name is stored across restarts, so
/// its descriptions are small. docs/spec/wire.md repeats these.
#pragma once

#include <cstddef>

namespace relay::protocol {

inline constexpr std::size_t kMaxLabelBytes = 256;     // cli, model, team, ...: longer ones are cut
inline constexpr std::size_t kMaxTaskBytes = 1'024;    // likewise
inline constexpr std::size_t kMaxAvatarBytes = 1'024;  // a longer address is omitted: truncated, it is another address
inline constexpr std::size_t kMaxShadowsPerSession = 64;

}  // namespace relay::protocol
