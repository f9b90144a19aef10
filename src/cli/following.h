/// Goes on for ever, whatever happens to the daemon.
#pragma once

#include <functional>

#include "cli/connection.h"
#include "cli/context.h"
#include "cli/exit_code.h"
#include "protocol/envelope.h"

namespace relay::cli {

/// Why a daemon says BYE.
Error goodbye_of(const protocol::Envelope& bye);

/// `follow` prints what comes and returns why it cannot go on. A daemon that went away is waited for, and `follow` is
/// called again on the new connection; it is over when nobody reads the output any more, or the daemon refuses.
ExitCode follow(const std::function<Error(DaemonConnection&)>& follow, DaemonConnection connection,
                const Context& context);

}  // namespace relay::cli
