/// Starts a program inside a pseudo-terminal, or with our descriptors.
///
/// In a pseudo-terminal the child leads its own session and process group; the terminal controls it and is its standard
/// input, output and error (command.h: `Streams`). Of our other descriptors only the kept ones are open in it; every
/// signal is unblocked and at its default, except the ignored ones. The program runs: a failed exec is an error here,
/// never a child.
///
/// When our process dies, the child gets SIGHUP twice: as its parent's death signal, and because its terminal hangs up.
/// The first is tied to the *thread* that spawned: spawn on a thread that lives as long as the process (the loop's), or
/// the child gets SIGHUP when that thread ends. A set-user-ID program drops it; the hang-up remains.
///
/// Blocks until the program is executed, normally below a millisecond.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "base/unique_fd.h"
#include "pty/command.h"

namespace relay::pty {

struct Spawned {
  pid_t pid = -1;
  UniqueFd pidfd;  // readable once the process ended
};

/// `peer` is the pseudo-terminal; -1 with Streams::Inherited.
Result<Spawned> spawn(int peer, const Command& command);

}  // namespace relay::pty
