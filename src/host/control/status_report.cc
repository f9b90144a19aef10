#include "host/control/status_report.h"

#include <chrono>

#include "host/control/session_state.h"

namespace relay::host {

void write_state(text::JsonWriter& answer, const HostStatus& status) {
  answer.field("state", displayed_state_name(status.state, status.monitor.watcher().is_starting()))
      .begin_array("evidence");
  if (const auto reported = status.adapter.reported_state())
    answer.begin_element()
        .field("source", reported->via.empty() ? status.adapter.capabilities().state : reported->via)
        .field("detail", reported->detail)
        .end();
  if (status.record.headless)
    answer.begin_element().field("source", "process").field("detail", "it runs without a terminal of the host").end();
  for (const auto& [source, detail] : status.monitor.watcher().estimate().evidence)
    answer.begin_element().field("source", source).field("detail", detail).end();
  answer.end();
}

void write_status(text::JsonWriter& answer, const HostStatus& status) {
  const auto wall_of = [&](SteadyTime moment) {
    return status.now.wall - std::chrono::duration_cast<Millis>(status.now.steady - moment).count();
  };
  write_record(answer, status.record);
  write_state(answer, status);
  answer.field("since", wall_of(status.since));
  if (const auto& composer = status.monitor.watcher().analysis().composer)
    answer.begin_object("composer").field("focused", composer->focused).field("draft", composer->draft).end();
  status.pipeline.describe(answer, status.adapter.capabilities(), status.adapter.typed_via());
  status.adapter.describe(answer);
  status.adapter.describe_prompts(answer, status.now.wall);
  status.reporter.describe(answer);
  answer.field("attended", status.attended)
      .field("connected", status.connected)
      .optional("unread", status.unread_reason)
      .optional("error", status.error)
      .field("title", status.monitor.screen().title());
  if (status.last_input != SteadyTime{}) answer.field("lastInputAt", wall_of(status.last_input));
  if (const auto& held_keys = status.held_keys; held_keys.bytes > 0) {
    answer.begin_object("heldKeys").field("bytes", static_cast<std::int64_t>(held_keys.bytes));
    if (held_keys.since) answer.field("since", wall_of(*held_keys.since));
    if (held_keys.discarded > 0) answer.field("discarded", static_cast<std::int64_t>(held_keys.discarded));
    answer.field("reason", held_keys.dialog ? reason_of(status.blocker) : "a message is unsent in the composer").end();
  }
}

}  // namespace relay::host
