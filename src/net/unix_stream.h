/// Streams over connected Unix sockets.
///
/// Why a hub: streams of one loop share a large read buffer and one flush per loop turn, so an idle stream costs a few
///   kilobytes and a thousand small writes cost one system call per peer.
/// Threading: loop thread only.
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "net/stream.h"

namespace relay::net {

class AsioLoop;
class StreamHub;

inline constexpr Millis kDrainTime{1'000};

/// `drain_time` bounds how long a closing stream sends pending bytes.
std::shared_ptr<StreamHub> make_stream_hub(AsioLoop& loop, Millis drain_time = kDrainTime);

/// Takes ownership of a connected, non-blocking socket. The hub is shared because a draining stream outlives its
/// creator.
std::unique_ptr<Stream> make_unix_stream(std::shared_ptr<StreamHub> hub, UniqueFd socket, Peer peer);

}  // namespace relay::net
