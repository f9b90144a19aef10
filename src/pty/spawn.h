/// Starts a program inside a pseudo-terminal, or with our own descriptors.
///
/// In a pseudo-terminal the child leads its own session and process group, the terminal controls it and is its standard
/// input, output and error (command.h: `Streams`). Of our other descriptors only those the command keeps are open in it;
/// every signal is at its default, but for those the command ignores, and unblocked. It runs: an exec that failed is an
/// error here, never a child.
///
/// When we die, however we die, the child gets SIGHUP twice over: as its parent's death signal, and because its
/// terminal hangs up. The first is tied to the *thread* that spawned: spawn on a thread that lives as long as the
/// process (the loop's), or the child is hung up when that thread ends. A set-user-ID program drops it; the hang-up
/// remains.
///
/// Blocks until the program was executed, normally below a millisecond.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "base/unique_fd.h"
#include "pty/command.h"

namespace relay::pty {

struct Spawned {
  pid_t pid = -1;
  UniqueFd pidfd;  // readable once it ended
};

/// `peer` is the pseudo-terminal; -1 with Streams::Inherited.
Result<Spawned> spawn(int peer, const Command& command);

}  // namespace relay::pty
