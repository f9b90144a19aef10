/// A relay command as `agent-relay extract` prints it: a line of JSON or of text.
#pragma once

#include <string>

#include "base/json.h"
#include "commands/command.h"
#include "profiles/cast_player.h"

namespace relay::cli {

/// {"t":null,"line":3,"column":0,"type":"command","kind":"message","to":"Bob","body":"hi"}; `type` is command,
/// spawn, release, file, summary, session_end or error. `t` is the time in a recording; null for text.
json::object command_json(const commands::Command& command);

/// An observation in a recording: `type` is also state, permission, question, tokens or limit, and `t` its time.
json::object observation_json(const profiles::TimedObservation& timed);
/// `12.3 s: state idle`
std::string observation_line(const profiles::TimedObservation& timed);

/// `3: message to Bob: hi`, safe on a terminal.
std::string command_line(const commands::Command& command);

}  // namespace relay::cli
