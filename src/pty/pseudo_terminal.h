/// Both ends of a new pseudo-terminal.
///
/// `controller` is ours: what is written there is typed, what is read there was shown. `peer` is the terminal itself,
/// as the child sees it. Both close on exec; the controller does not block.
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"
#include "pty/window_size.h"

namespace relay::pty {

struct PseudoTerminal {
  static Result<PseudoTerminal> open(WindowSize size);

  UniqueFd controller;
  UniqueFd peer;
};

}  // namespace relay::pty
