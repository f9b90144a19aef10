/// `run --tmux`: the agent in a tmux session, its host in the background, the user's terminal attached to the session.
///
/// The agent keeps running after the user detaches; its host works as in any terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/framework/context.h"
#include "host/host.h"
#include "net/asio_loop.h"
#include "pty/command.h"

namespace relay::cli {

inline constexpr std::string_view kTmuxShimCommand = "tmux-keeper";

/// Starts the host's program in a tmux pane.
host::StartProgram start_in_tmux(net::AsioLoop& loop, const pty::Command& command, const std::string& agent);

/// Starts the host with these arguments of `run` in the background, then executes `tmux attach` on a terminal. Returns only
/// without a terminal, or on failure.
Result<void> run_in_tmux(const Context& context, const std::string& agent, std::vector<std::string> words);

}  // namespace relay::cli
