/// The process at the other end of a connection, as the kernel reports it.
#pragma once

#include <cstdint>

#include "protocol/peer_origin.h"

namespace relay::broker {

struct PeerProcess {
  std::uint32_t uid = 0;
  std::int32_t pid = 0;
  protocol::PeerOrigin origin = {};  // as the daemon classified it when it accepted the connection
};

}  // namespace relay::broker
