/// The usage of the machine and of agents' processes for METRICS, read from /proc at each call.
#pragma once

#include <cstdint>
#include <string>

#include "broker/broker.h"

namespace relay::daemon {

/// Zeros for a process that has ended or is not readable. CPU is the average over its lifetime.
broker::ProcessUsage usage_of_process(std::int32_t pid);
broker::MachineUsage usage_of_machine();
/// The boot id of the machine; empty when unknown.
std::string boot_id();

}  // namespace relay::daemon
