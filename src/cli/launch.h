/// Starts the daemon in the background and waits until it is ready, or says why it is not.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace relay::cli {

enum class LaunchErrc { CannotStart, NotReady, AlreadyRunning };
std::string_view describe(LaunchErrc code);

/// Runs this very program with `arguments` plus `--ready-fd N`, detached from the terminal, its stray words going to
/// `log_path`. Returns the pid once it said it is ready; the error is the child's own sentence. Waits without polling.
Result<pid_t> launch_daemon(std::vector<std::string> arguments, const std::string& log_path);

}  // namespace relay::cli
