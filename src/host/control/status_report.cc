#include "host/control/status_report.h"

#include <chrono>

#include "host/control/session_state.h"

namespace relay::host {

void write_state(text::JsonWriter& answer, const HostStatus& account) {
  answer.field("state", shown_state_name(account.state, account.sight.watcher().is_starting())).begin_array("evidence");
  if (const auto known = account.native.reported_state())
    answer.begin_element()
        .field("source", known->via.empty() ? account.native.capabilities().state : known->via)
        .field("detail", known->says)
        .end();
  if (account.record.headless)
    answer.begin_element().field("source", "process").field("detail", "it runs without a terminal of ours").end();
  for (const auto& [witness, says] : account.sight.watcher().verdict().evidence)
    answer.begin_element().field("source", witness).field("detail", says).end();
  answer.end();
}

void write_status(text::JsonWriter& answer, const HostStatus& account) {
  const auto wall_of = [&](SteadyTime moment) {
    return account.now.wall - std::chrono::duration_cast<Millis>(account.now.steady - moment).count();
  };
  write_record(answer, account.record);
  write_state(answer, account);
  answer.field("since", wall_of(account.since));
  if (const auto& composer = account.sight.watcher().picture().composer)
    answer.begin_object("composer").field("focused", composer->focused).field("draft", composer->draft).end();
  account.desk.describe(answer, account.native.capabilities(), account.native.typed_way());
  account.native.describe(answer);
  account.native.describe_prompts(answer, account.now.wall);
  account.teller.describe(answer);
  answer.field("attended", account.person)
      .field("connected", account.connected)
      .optional("unread", account.unread)
      .optional("error", account.error)
      .field("title", account.sight.screen().title());
  if (account.last_typed != SteadyTime{}) answer.field("lastInputAt", wall_of(account.last_typed));
  if (const auto& held = account.held; held.bytes > 0) {
    answer.begin_object("heldKeys").field("bytes", static_cast<std::int64_t>(held.bytes));
    if (held.since) answer.field("since", wall_of(*held.since));
    if (held.discarded > 0) answer.field("discarded", static_cast<std::int64_t>(held.discarded));
    answer.field("reason", held.dialog ? reason_of(account.blocker) : "a message stands unsent in the composer").end();
  }
}

}  // namespace relay::host
