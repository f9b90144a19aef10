/// The two ways to measure, over the forwarder and over the daemon alike.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "figures.h"
#include "peer.h"

namespace relay::bench {

struct Load {
  std::size_t sequential = 2'000;
  std::size_t streaming = 50'000;
  std::size_t body_bytes = 1'024;
  std::string to = "Bob";
};

/// Frames that come out as they went in.
Result<void> measure_forwarder(Peer& sender, Peer& receiver, const Load& load, Figures& figures);

/// SEND in, DELIVER and ACK out; every DELIVER is acknowledged.
Result<void> measure_daemon(Peer& sender, Peer& receiver, const Load& load, Figures& figures);

}  // namespace relay::bench
