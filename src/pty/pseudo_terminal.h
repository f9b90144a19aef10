/// Both ends of a new pseudo-terminal.
///
/// Bytes written to `controller` are the program's input, bytes read from it are its output. `peer` is the terminal as
/// the child sees it. Both close on exec; the controller does not block.
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
