/// The handler of each frame type. A new frame is one row here, a method of its part and a test.
#pragma once

#include <cstddef>

#include "broker/connection_state.h"
#include "protocol/envelope.h"

namespace relay::broker {

struct BrokerParts;

using FrameCall = void (*)(BrokerParts&, ConnectionState&, const protocol::Envelope&, std::size_t frame_bytes);

/// For frames of open connections; null for types that a workspace does not handle.
FrameCall frame_call(protocol::MessageType type);

}  // namespace relay::broker
