/// Errors between a program and the daemon.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::client {

enum class Errc {
  NoDaemon,    // not reachable, or no connection attempts are left
  Refused,     // a fatal ERROR of the daemon
  Full,        // the outbox is full
  TooLarge,    // the message does not fit a frame
  BadMessage,  // the payload is no JSON object, or the recipient is missing
  NotReady,    // the link is not READY
  TimedOut,    // no response in time
  Lost,        // the connection was lost while a request was open
};

std::string_view describe(Errc code);

/// The error of a NACK or an ERROR. It carries the protocol::NackCode (wire.md 8.2) of a defined code, else Refused.
Failure refused_by_daemon(std::string_view code, std::string message);

/// Why a connect failed, as a part of the caller's message. The network's message for a refused connection names the
/// daemon and the next step; the caller adds its own, or names a host.
std::string connect_reason(const Error& error);

}  // namespace relay::client
