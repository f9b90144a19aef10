/// Roles of the benchmark program inside terminals: forwarders and the programs behind them.
///
///   role poll CMD... | role parts CMD... | role echo | role flood MEGABYTES
#pragma once

#include <cstddef>
#include <string_view>

namespace relay::bench {

inline constexpr std::size_t kMegabyte = 1024 * 1024;
/// Printed by echo and flood when they are ready.
inline constexpr std::string_view kReadyText = "ready";

/// Runs the role that the arguments name and returns its exit code; negative when they name none.
int play_role(int argc, char** argv);

}  // namespace relay::bench
