/// Starts the daemon, or a host, in the background and waits until it is ready.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::cli {

enum class LaunchErrc { CannotStart, NotReady, AlreadyRunning };
std::string_view describe(LaunchErrc code);

/// Runs this program with `arguments`, detached from the terminal and from its ancestors, with its output in `log_path`.
/// Returns the pid when the child reports on descriptor host::kReadyFd that it is ready; an error is the child's own
/// message. Waits without polling. `what` names the child in errors.
Result<pid_t> launch_in_background(std::vector<std::string> arguments, const std::string& log_path,
                                   std::string_view what);
/// The same for `up`, with `--ready-fd` added.
Result<pid_t> launch_daemon(std::vector<std::string> arguments, const std::string& log_path);

}  // namespace relay::cli
