/// An utterance as `agent-relay extract` prints it: a line of JSON, or a line for a person.
#pragma once

#include <string>

#include "base/json.h"
#include "commands/command.h"
#include "profiles/cast_player.h"

namespace relay::cli {

/// {"t":null,"line":3,"column":0,"type":"command","kind":"message","to":"Bob","body":"hi"}; `type` is command,
/// spawn, release, file, summary, session_end or error. `t` is the time in a recording; null for text.
json::object utterance_json(const commands::Command& utterance);

/// What was seen in a recording: `type` is also state, permission, question, tokens or limit, and `t` its time.
json::object seen_json(const profiles::TimedObservation& seen);
/// `12.3 s: state idle`
std::string seen_line(const profiles::TimedObservation& seen);

/// `3: message to Bob: hi`, safe on a terminal.
std::string utterance_line(const commands::Command& utterance);

}  // namespace relay::cli
