/// The small process that tmux starts in a pane, and that runs the agent's program there on our behalf.
///
///     tmux server ── pane ── keeper ── the agent's program (leads a session at the pane's terminal)
///                              └── socket ── KeeperLink (keeper_link.h), in the host
///
/// Why it exists: tmux forgets what it has read from a pane but not yet passed on, once the pane's process has ended.
///   Of twenty runs of `echo last words` under tmux 3.3a fourteen lost their words. The keeper outlives the program, so
///   the pane stays until everything has been read. It pays for itself in other ways:
/// - argv, environment and directory come over a private socket. No shell and no format of tmux's looks at them, no
///   secret stands in anybody's arguments, one-word commands are no special case, and a program that cannot be executed
///   is the same sentence as without tmux.
/// - The program is started only once we watch the pane at the right size, so its first byte is ours.
/// - It knows exactly how the program ended.
///
/// The conversation, over a stream socket:
///   link → keeper   length (4 bytes, big endian), then directory, number of arguments, arguments, environment, each
///                   closed by a zero byte
///   keeper → link   `started PID`, or `failed CODE SENTENCE` and the end
///   keeper → link   `exited CODE` or `signalled NUMBER`
///   link → keeper   `say TEXT`, any number of times: the text goes to the terminal, behind all that was written there
///   link closes     the keeper ends, with the program's own code
///
/// When the host is gone the program goes on, and the keeper with it: that is what people use tmux for. Should the host
/// have stopped the terminal's output at that moment, the keeper lets it go on.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pty/command.h"

namespace relay::tmux {

inline constexpr std::size_t kMaxCommandBytes = 4 * 1024 * 1024;  // the kernel takes about half of it

/// The whole life of a keeper; the exit code of the process. Standard input is the pane's terminal.
int run_shim(const std::string& socket_path);

/// The body of the first message, and back; empty when it is not one. Pure.
std::string encode_command(const pty::Command& command);
std::optional<pty::Command> decode_command(std::string_view body);

}  // namespace relay::tmux
