/// Redis endpoints: publishers and subscribers, stream writers and readers.
#pragma once

#include <memory>
#include <string>

#include "subjects/endpoint.h"

namespace relay::bench {

/// The channel or stream of broadcast messages.
inline constexpr std::string_view kEveryonesKey = "everyone";

/// Publishes, and receives when it has subscribed.
std::unique_ptr<Endpoint> redis_pubsub_endpoint(ByteSocket socket);
std::unique_ptr<Endpoint> redis_stream_sender(ByteSocket socket);
/// Reads the entries of its group and acknowledges each. The first XREADGROUP is already queued.
std::unique_ptr<Endpoint> redis_stream_receiver(ByteSocket socket, std::string key, std::string group);

}  // namespace relay::bench
