/// Shows the screen of an agent that runs elsewhere, first as it is, then live, and sends keys to it.
///
/// Invariants: the terminal is restored on every exit; a slow terminal never slows the agent; replies of the terminal itself
///   never reach the agent (its host has replied already).
/// Threading: runs its own loop until the user leaves or the agent exits.
#pragma once

#include <string>

#include "base/result.h"
#include "host/control/host_record.h"

namespace relay::cli {

enum class AttachMode { View, Drive };
enum class AttachEnd { Detached, AgentExited };

struct AttachResult {
  AttachEnd end = AttachEnd::Detached;
  int code = 0;  // exit code of the agent
};

/// Ctrl-] detaches; in view mode also q and Ctrl-C.
Result<AttachResult> attach_to(const host::HostRecord& record, AttachMode mode);

}  // namespace relay::cli
