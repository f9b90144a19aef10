/// Another terminal for an agent that runs elsewhere: its screen as it is now, then live, and keys if wanted.
///
/// Invariants: the terminal is given back as it was on every way out; the agent is never slowed by a slow terminal; what
///   the terminal itself replies never reaches the agent (its host's terminal has answered already).
/// Threading: runs a loop of its own until the person leaves or the agent ends.
#pragma once

#include <string>

#include "base/result.h"
#include "host/control/host_record.h"

namespace relay::cli {

enum class AttachMode { View, Drive };
enum class AttachEnd { Left, AgentEnded };

struct AttachResult {
  AttachEnd end = AttachEnd::Left;
  int code = 0;  // of the agent, when it ended
};

/// Leaves with Ctrl-]; while viewing also with q and Ctrl-C.
Result<AttachResult> attach_to(const host::HostRecord& record, AttachMode mode);

}  // namespace relay::cli
