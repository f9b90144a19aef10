/// The record of an ended session that its host writes for the daemon (docs/spec/host.md, "The end of a session").
///
/// Why: a host may end while the daemon is not running. Then there is no BYE, and the daemon would report a crash.
/// Bounded: a record has at most kMaxEndedSessionBytes; the newest events that do not fit are left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "protocol/bye.h"

namespace relay::protocol {

inline constexpr std::size_t kMaxEndedSessionBytes = 256 * 1024;

struct EndedSession {
  /// An AGENT_EVENT that the daemon has not acknowledged.
  struct UnackedEvent {
    std::string id;
    std::string payload;
  };

  std::string agent = {};
  std::string session = {};
  Bye bye = {};
  std::vector<UnackedEvent> events = {};  // in order
};

/// Can the session id be used as a file name? The daemon's ids can.
bool is_plain_session_id(std::string_view session);

Result<EndedSession> parse_ended_session(std::string_view text);
std::string write_ended_session(const EndedSession& ended);

}  // namespace relay::protocol
