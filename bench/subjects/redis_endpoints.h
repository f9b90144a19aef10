/// The ends of Redis: publishers and subscribers, and writers and readers of streams.
#pragma once

#include <memory>
#include <string>

#include "subjects/endpoint.h"

namespace relay::bench {

/// The channel, or stream, of who hears what is said to everyone.
inline constexpr std::string_view kEveryonesKey = "everyone";

/// Sends, and hears once it has subscribed.
std::unique_ptr<Endpoint> redis_pubsub_endpoint(ByteSocket socket);
std::unique_ptr<Endpoint> redis_stream_sender(ByteSocket socket);
/// Reads its group's entries as they come and acknowledges each. The first question is queued already.
std::unique_ptr<Endpoint> redis_stream_receiver(ByteSocket socket, std::string key, std::string group);

}  // namespace relay::bench
