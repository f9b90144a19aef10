/// The capture records of a hook event (docs/spec/capture.md).
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "capture/record.h"
#include "hooks/event.h"

namespace relay::cli {

/// The agent that called the hook.
struct HookCaller {
  std::string name = {};  // relay name; may be empty
  pid_t pid = 0;          // 0: unknown
};

/// One record, or two at the end of a turn: its last message, and the end. None for a partial message.
std::vector<capture::Record> records_of(const hooks::HookEvent& event, const HookCaller& caller);

}  // namespace relay::cli
