/// Which part handles a frame. A new frame is one row here, its part and the part's test.
#pragma once

#include <cstddef>

#include "broker/connection_state.h"
#include "protocol/envelope.h"

namespace relay::broker {

struct BrokerParts;

using FrameCall = void (*)(BrokerParts&, ConnectionState&, const protocol::Envelope&, std::size_t frame_bytes);

/// For frames of open connections; null for those that a workspace does not answer.
FrameCall frame_call(protocol::MessageType type);

}  // namespace relay::broker
