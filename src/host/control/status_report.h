/// What a host tells of itself to those who ask at its door.
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

/// How things stand; lives as long as the question.
struct HostStatus {
  const HostRecord& record;
  const ScreenMonitor& sight;
  const AdapterBridge& native;
  const DeliveryPipeline& desk;
  const EventReporter& teller;
  profiles::State state;  // by all that is known
  SteadyTime since;       // when it began
  profiles::Blocker blocker;
  Timestamp now;
  SteadyTime last_typed;
  AgentInput::Held held;
  bool person;
  bool connected;
  std::string_view unread;  // why its lines are not read; empty when they are
  std::string_view error;
};

/// Only `state` and `evidence`.
void write_state(text::JsonWriter& answer, const HostStatus& account);
/// `explain` (docs/spec/host.md).
void write_status(text::JsonWriter& answer, const HostStatus& account);

}  // namespace relay::host
