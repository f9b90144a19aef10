/// The yardstick: a pseudo-terminal forwarder that is one poll() loop, and nothing else.
#pragma once

#include "pty/command.h"

namespace relay::bench {

/// Runs the command in a new terminal and copies both ways until it ended; our exit code.
int forward_by_poll(const pty::Command& command);

}  // namespace relay::bench
