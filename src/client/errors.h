/// What can go wrong between a program and the daemon.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::client {

enum class Errc {
  NoDaemon,    // nobody could be reached, or the link could not be held, and patience ran out
  Refused,     // the daemon ended it with a fatal ERROR
  Full,        // the outbox has no room
  TooLarge,    // the message does not fit a frame
  BadMessage,  // the payload is no JSON object, or the addressee is missing
  NotReady,    // asked of a link that is not READY
  TimedOut,    // the daemon did not answer a question in time
  Lost,        // the link broke while a question was open
};

std::string_view describe(Errc code);

/// What a NACK or an ERROR says. Its code stays with the error, as the protocol::Refusal it stands for (wire.md 8.2), where
/// it is known; otherwise it is Refused.
Failure refused_by_daemon(std::string_view code, std::string message);

/// Why a connect failed, for a sentence of the caller's own. The network's sentence for a refused connection names the
/// daemon and the next step; the caller does so too, or speaks of a host.
std::string connect_reason(const Error& error);

}  // namespace relay::client
