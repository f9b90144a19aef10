/// The baseline: a pseudo-terminal forwarder that is one poll() loop.
#pragma once

#include "pty/command.h"

namespace relay::bench {

/// Runs the command in a new terminal, copies both directions until it exits, and returns the exit code.
int forward_by_poll(const pty::Command& command);

}  // namespace relay::bench
