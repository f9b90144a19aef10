/// The `explain` and `state` responses of the host socket.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "host/adapter_bridge.h"
#include "host/control/host_record.h"
#include "host/delivery/pipeline.h"
#include "host/event_reporter.h"
#include "host/screen/agent_input.h"
#include "host/screen/screen_monitor.h"
#include "text/json_writer.h"

namespace relay::host {

/// The state of a host during one request.
struct HostStatus {
  const HostRecord& record;
  const ScreenMonitor& monitor;
  const AdapterBridge& adapter;
  const DeliveryPipeline& pipeline;
  const EventReporter& reporter;
  profiles::State state;  // by screen and native interfaces
  SteadyTime since;
  profiles::Blocker blocker;
  Timestamp now;
  SteadyTime last_input;
  AgentInput::Held held_keys;
  bool attended;
  bool connected;
  std::string_view unread_reason;  // why lines are not read; empty when they are
  std::string_view error;
};

/// Only `state` and `evidence`.
void write_state(text::JsonWriter& answer, const HostStatus& status);
/// `explain` (docs/spec/host.md).
void write_status(text::JsonWriter& answer, const HostStatus& status);

}  // namespace relay::host
