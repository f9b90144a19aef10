/// `run --tmux`: the agent in a session of tmux, its host in the background, the person's terminal attached to the session.
///
/// Whoever detaches from tmux leaves the agent running; its host sees, hears and types as with a terminal of its own.
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

/// How a host starts its program inside tmux.
host::StartProgram start_in_tmux(net::AsioLoop& loop, const pty::Command& command, const std::string& agent);

/// Starts the host with these words (of `run`) in the background, then becomes `tmux attach` where there is a terminal;
/// returns only when there is none, or on failure.
Result<void> run_in_tmux(const Context& context, const std::string& agent, std::vector<std::string> words);

}  // namespace relay::cli
