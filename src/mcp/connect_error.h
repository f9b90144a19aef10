/// Why a connection did not come about, as a part of our own sentence.
///
/// Why: the network's sentence names the daemon and says how to start it; ours says so too, or speaks of a host.
#pragma once

#include <string>

#include "base/result.h"
#include "net/unix_address.h"

namespace relay::mcp {

inline std::string connect_error(const Error& error) {
  return is(error, net::Errc::ConnectionRefused) ? std::string{net::describe(net::Errc::ConnectionRefused)}
                                                 : error.message();
}

}  // namespace relay::mcp
