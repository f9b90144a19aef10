/// Follows the daemon across restarts.
#pragma once

#include <functional>

#include "cli/framework/context.h"
#include "cli/framework/exit_code.h"
#include "cli/wire/daemon_connection.h"
#include "protocol/envelope.h"

namespace relay::cli {

/// The reason of a BYE as an error.
Error bye_reason(const protocol::Envelope& bye);

/// Calls `print_frames`, which prints frames until the connection fails and returns the error. Reconnects and calls it
/// again. Returns when the reader of the output has closed, or the daemon refuses.
ExitCode follow(const std::function<Error(DaemonConnection&)>& print_frames, DaemonConnection connection,
                const Context& context);

}  // namespace relay::cli
