/// What the benchmark's own program plays inside terminals: forwarders, and what runs behind them.
///
///   role poll CMD... | role parts CMD... | role echo | role flood MEGABYTES
#pragma once

#include <cstddef>
#include <string_view>

namespace relay::bench {

inline constexpr std::size_t kMegabyte = 1024 * 1024;
/// What echo and flood say once they are there.
inline constexpr std::string_view kReadyWord = "ready";

/// The exit code, when the words name a role; otherwise nothing happens and it is negative.
int play_role(int argc, char** argv);

}  // namespace relay::bench
