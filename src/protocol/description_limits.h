/// How much a session may tell of itself for people to read, in bytes: a known name is kept across restarts, so what is
/// kept with it is small. docs/spec/wire.md repeats these.
#pragma once

#include <cstddef>

namespace relay::protocol {

inline constexpr std::size_t kMaxLabelBytes = 256;     // cli, model, team, ...: longer ones are cut
inline constexpr std::size_t kMaxTaskBytes = 1'024;    // likewise
inline constexpr std::size_t kMaxAvatarBytes = 1'024;  // an address that is longer is left out: cut, it leads elsewhere
inline constexpr std::size_t kMaxShadowsPerSession = 64;

}  // namespace relay::protocol
