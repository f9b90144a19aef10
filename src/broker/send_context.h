/// The data of one SEND or CHANNEL_MESSAGE that its handlers share.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "broker/agent_state.h"
#include "broker/connection_state.h"
#include "protocol/envelope.h"
#include "protocol/send.h"

namespace relay::broker {

struct SendContext {
  ConnectionState& connection;
  const protocol::Envelope& envelope;
  AgentState* sender;  // null for query-only connections
  AgentName from;
  std::size_t bytes;
  protocol::SendView view = {};
  protocol::SendMeta meta = {};
  std::optional<std::uint64_t> number = {};  // within its outbox
  std::string_view to = envelope.to;         // a name, `*`, a channel
};

}  // namespace relay::broker
