/// One message given to the daemon, and what became of it.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "cli/connection.h"
#include "cli/exit_code.h"
#include "protocol/send.h"

namespace relay::cli {

struct Letter {
  std::string from, to, text;
  std::string kind = "message";
  std::string topic, thread;                   // may be empty
  std::string claim_token;                     // of a name that somebody here has; empty: none
  std::string id;                              // the sender's own; empty: a fresh one
  std::optional<protocol::DeliveryMode> mode;  // when it is to reach the agent's eyes; none: when it is idle
  std::optional<Millis> ttl;                   // how long the daemon tries
  std::optional<Millis> patience;              // how long we wait until it is delivered; none: only until it is stored
};

struct Fate {
  enum class Kind { Stored, Delivered, Undelivered, NotYet, Refused };
  Kind kind = Kind::Stored;
  std::string id = {};  // under which `trace` and `read` find it; empty when the daemon did not say
  std::optional<std::uint64_t> recipients = {};  // how many it goes to, when the daemon said so
  std::string reason = {};                       // why it is Undelivered or NotYet
  ExitCode code = ExitCode::No;                  // of NotYet: too late, or the daemon is gone
  protocol::NackView refusal = {};               // of Refused
};

/// An error when the daemon did not answer; then nobody knows whether it was stored.
Result<Fate> hand_over(Connection& connection, const Letter& letter);

}  // namespace relay::cli
