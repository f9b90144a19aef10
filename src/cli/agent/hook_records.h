/// What is kept of a hook's event (docs/spec/capture.md).
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "capture/record.h"
#include "hooks/event.h"

namespace relay::cli {

/// The agent as its hook finds it.
struct HookCaller {
  std::string name = {};  // on the relay; may be empty
  pid_t pid = 0;          // of the agent; 0: not known
};

/// One record, or two: the last words of a turn, and that it ended. None for a piece of a message.
std::vector<capture::Record> records_of(const hooks::HookEvent& event, const HookCaller& caller);

}  // namespace relay::cli
