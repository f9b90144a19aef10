/// Why a connection did not come about, as a part of our own sentence.
///
/// Why: the network's sentence names the daemon and says how to start it; ours says so too, or speaks of a host.
#pragma once

#include <string>

#include "base/result.h"
#include "net/unix_address.h"

namespace relay::mcp {

inline std::string why_not_connected(const Error& error) {
  return is(error, net::Errc::NoOneListens) ? std::string{net::describe(net::Errc::NoOneListens)} : error.message();
}

}  // namespace relay::mcp
