/// Starts the daemon in the background and waits until it is ready, or says why it is not.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::cli {

enum class LaunchErrc { CannotStart, NotReady, AlreadyRunning };
std::string_view describe(LaunchErrc code);

/// Runs this very program with `arguments`, detached from the terminal and from our ancestors, its stray words going to
/// `log_path`. Returns the pid once it said on descriptor host::kReadyFd that it is ready; the error is the child's own sentence. Waits without
/// polling. `what` is how sentences call it.
Result<pid_t> launch_in_background(std::vector<std::string> arguments, const std::string& log_path,
                                   std::string_view what);
/// The same for `up`, with `--ready-fd` added.
Result<pid_t> launch_daemon(std::vector<std::string> arguments, const std::string& log_path);

}  // namespace relay::cli
