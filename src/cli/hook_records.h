/// What is kept of a hook's event (docs/spec/capture.md).
#pragma once

#include <string>
#include <vector>

#include "capture/record.h"
#include "hooks/event.h"

namespace relay::cli {

/// One record, or two: the last words of a turn, and that it ended. `name` is the agent's on the relay, may be empty.
std::vector<capture::Record> records_of(const hooks::Event& event, const std::string& name);

}  // namespace relay::cli
