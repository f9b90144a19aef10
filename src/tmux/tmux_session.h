/// A tmux session created for one program, with the client, the shim connection and the terminal of its pane.
///
/// Ownership: the holder has the only control client and the only connection to the shim; releasing both leaves the
///   program running in its session.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pty/command.h"
#include "pty/window_size.h"
#include "tmux/control_client.h"
#include "tmux/pane.h"
#include "tmux/shim_connection.h"

namespace relay::tmux {

struct TmuxSession {
  std::string name;
  std::string id;                  // tmux's id, like $3: unchanged when the session is renamed
  std::string tmux;                // the program's path
  std::vector<std::string> words;  // tmux and its options, before any command
  PaneNumber pane = 0;
  bool needs_raw_paste_flag = false;  // see commands.h
  pid_t shim_pid = -1;
  UniqueFd terminal;  // the pane's terminal, to query how much input it holds
  std::unique_ptr<ControlClient> client;
  ShimConnection shim{UniqueFd{}};
  pid_t program = -1;
};

/// Creates everything, up to the program running at this size. After an error nothing of it is left.
Result<TmuxSession> start_session(const pty::Command& command, pty::WindowSize size, const PaneOptions& options,
                                  ControlListener& listener, SteadyTime deadline);

/// A client that queries the pane. The reply to its command has the id of a session and the shim's process number, or
/// neither when the pane is closed. Then the client exits.
Result<std::unique_ptr<ControlClient>> query_pane(const TmuxSession& session, ControlListener& listener);

/// Another control client, in the session with this id. Returns at once; its first reply shows whether tmux accepted
/// it, and the caller checks whether the pane is there. It does not count for window sizes until it requests to.
Result<std::unique_ptr<ControlClient>> attach_client(const TmuxSession& session, const std::string& id,
                                                     ControlListener& listener);

}  // namespace relay::tmux
