/// What a host tells of itself to those who ask at its door.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "host/keyboard.h"
#include "host/mail_desk.h"
#include "host/native_side.h"
#include "host/record.h"
#include "host/sight.h"
#include "host/teller.h"
#include "text/json_writer.h"

namespace relay::host {

/// How things stand; lives as long as the question.
struct Account {
  const HostRecord& record;
  const Sight& sight;
  const NativeSide& native;
  const MailDesk& desk;
  const Teller& teller;
  profiles::State state;  // by all that is known
  SteadyTime since;       // when it began
  profiles::Blocker blocker;
  Moment now;
  SteadyTime last_typed;
  Keyboard::Held held;
  bool person;
  bool connected;
  std::string_view unread;  // why its lines are not read; empty when they are
  std::string_view trouble;
};

/// Only `state` and `evidence`.
void tell_state_of(text::JsonWriter& answer, const Account& account);
/// `explain` (docs/spec/host.md).
void tell_all(text::JsonWriter& answer, const Account& account);

}  // namespace relay::host
