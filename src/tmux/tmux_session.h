/// A tmux session that was made for one program, with everything we hold of it.
///
/// Ownership: whoever holds it has the only control client and the only word with the keeper; letting go of both leaves
///   the program running in its session.
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
  std::string id;                  // tmux's own, like $3: stays when somebody gives the session another name
  std::string tmux;                // the program's path
  std::vector<std::string> words;  // tmux and its own options, before any command
  PaneNumber pane = 0;
  bool pastes_by_request = false;  // wording.h
  pid_t keeper_pid = -1;
  UniqueFd terminal;  // the pane's, for asking how much input it holds
  std::unique_ptr<ControlClient> client;
  ShimConnection keeper{UniqueFd{}};
  pid_t program = -1;
};

/// Everything, up to the program running at that size. After an error nothing of it is left.
Result<TmuxSession> start_session(const pty::Command& command, pty::WindowSize size, const PaneOptions& options,
                                  ControlListener& listener, SteadyTime deadline);

/// A client that asks where the pane is now. The answer to its own command: the id of a session and the number of the
/// keeper's process, nothing of the kind when the pane is gone. Then it goes.
Result<std::unique_ptr<ControlClient>> ask_for_place(const TmuxSession& session, ControlListener& listener);

/// Another control client, in the session of that id. Returns at once; whether tmux let it in is its first answer, and
/// whether the pane is there is for the caller to ask. It counts for no window's size until told otherwise.
Result<std::unique_ptr<ControlClient>> attach_again(const TmuxSession& session, const std::string& id,
                                                    ControlListener& listener);

}  // namespace relay::tmux
