/// The small process that tmux starts in a pane, and that runs the agent's program there for us.
///
///     tmux server ── pane ── shim ── the agent's program (leads a session at the pane's terminal)
///                             └── socket ── ShimConnection (shim_connection.h), in the host
///
/// Why it exists: when the pane's process ends, tmux drops output that it has read but not yet passed on. Of twenty
///   runs of `echo last words` under tmux 3.3a, fourteen lost the output. The shim outlives the program, so the pane
///   stays until everything has been read. It has other benefits:
/// - argv, environment and directory come over a private socket. No shell and no tmux format interprets them, no secret
/// is in any process's arguments, one-word commands are no special case, and a program that cannot be executed gives
/// the same error as without tmux.
/// - The program is started only once we receive the pane's output at the right size, so no output is missed.
/// - It gets the exact exit status of the program.
///
/// The protocol, over a stream socket:
///   host → shim   length (4 bytes, big endian), then directory, number of arguments, arguments, environment, each
///                 terminated by a zero byte
///   shim → host   `started PID`, or `failed CODE MESSAGE` and the end
///   shim → host   `exited CODE` or `signalled NUMBER`
///   host → shim   `say TEXT`, any number of times: the text goes to the terminal, behind all earlier output
///   host closes   the shim exits with the program's code
///
/// When the host has ended, the program and the shim keep running, as users expect from tmux. If the host had stopped the
/// terminal's output at that moment, the shim resumes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pty/command.h"

namespace relay::tmux {

inline constexpr std::size_t kMaxCommandBytes = 4 * 1024 * 1024;  // the kernel accepts about half of it

/// The whole work of the shim; returns the exit code of the process. Standard input is the pane's terminal.
int run_shim(const std::string& socket_path);

/// Encodes the body of the first message, and decodes it; empty if it is malformed. Pure.
std::string encode_command(const pty::Command& command);
std::optional<pty::Command> decode_command(std::string_view body);

}  // namespace relay::tmux
