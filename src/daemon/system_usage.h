/// What METRICS tells about the machine and the processes behind agents, read from /proc when asked.
#pragma once

#include <cstdint>
#include <string>

#include "broker/broker.h"

namespace relay::daemon {

/// Zeros for a process that is gone or not ours to look at. CPU is the average over the process's life.
broker::ProcessUsage usage_of_process(std::int32_t pid);
broker::MachineUsage usage_of_machine();
/// Another one after every start of the machine; empty when it cannot be told.
std::string boot_id();

}  // namespace relay::daemon
