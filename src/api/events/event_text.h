/// An event on its way to readers, and every line they are told, in the two dialects: server-sent events and the messages
/// of a WebSocket. Pure.
///
/// Beside the events themselves a reader may hear of the feed:
///   gap     events it has not seen are no longer kept; it goes on behind them
///   reset   the number it began at is beyond the log (which began anew, or it was mistaken); it goes on at the newest
///   resume  it read too slowly, or the server ends: what it has seen, and where to go on; the last word
/// Each carries a number a reader can come back with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace relay::api {

struct FeedEvent {
  std::uint64_t number = 0;
  WallMs at = 0;
  std::string type, agent, session;
  std::string json;  // as it is told, in one line
};

/// What filters look at, taken from the event's own members.
Result<FeedEvent> read_feed_event(std::uint64_t number, std::string_view json);

enum class StreamFormat : std::uint8_t { Sse, WebSocket };

/// `event: TYPE`, `id: N`, `data: {…}`; or `{"type":"event","event":{…}}`.
void append_event(std::string& out, StreamFormat stream_format, const FeedEvent& event);

std::string gap_text(StreamFormat stream_format, std::uint64_t from, std::uint64_t to);
inline constexpr std::string_view kOffsetBeyondLog =
    "the log of events does not reach that number; this goes on at its newest";
std::string reset_text(StreamFormat stream_format, std::uint64_t number, std::string_view reason = kOffsetBeyondLog);
std::string resume_text(StreamFormat stream_format, std::uint64_t after, std::string_view reason);

inline constexpr std::string_view kSseOpening = "retry: 1000\n\n";  // how soon a browser comes back
inline constexpr std::string_view kSseHeartbeat = ": heartbeat\n\n";

}  // namespace relay::api
