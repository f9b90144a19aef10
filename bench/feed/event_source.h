/// A session in its own process that reports events to the daemon at a fixed rate.
#pragma once

#include <string>

#include "subjects/server_process.h"

namespace relay::bench {

Result<ServerProcess> start_event_source(const std::string& socket, int events_per_second);

}  // namespace relay::bench
