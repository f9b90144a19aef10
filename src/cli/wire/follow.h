/// Goes on for ever, whatever happens to the daemon.
#pragma once

#include <functional>

#include "cli/framework/context.h"
#include "cli/framework/exit_code.h"
#include "cli/wire/daemon_connection.h"
#include "protocol/envelope.h"

namespace relay::cli {

/// Why a daemon says BYE.
Error goodbye_of(const protocol::Envelope& bye);

/// `follow` prints what comes and returns why it cannot go on. A daemon that went away is waited for, and `follow` is
/// called again on the new connection; it is over when nobody reads the output any more, or the daemon refuses.
ExitCode follow(const std::function<Error(DaemonConnection&)>& follow, DaemonConnection connection,
                const Context& context);

}  // namespace relay::cli
