/// A session that tells the daemon what it does, so many times a second, in a process of its own.
#pragma once

#include <string>

#include "subjects/server_process.h"

namespace relay::bench {

Result<ServerProcess> start_teller(const std::string& socket, int events_per_second);

}  // namespace relay::bench
