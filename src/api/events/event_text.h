/// Formats events and notices for readers, as server-sent events and as WebSocket messages. Pure.
///
/// Besides events a reader may get a notice of the feed:
///   gap     events that it has not seen are no longer stored; the stream continues after them
///   reset   its number is beyond the log (the log was replaced, or the number was wrong); the stream continues at the
///           newest event
///   resume  it read too slowly, or the server stops; the last line, with the number to resume from
/// Each notice carries the number to reconnect with.
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
  std::string json;  // as it is sent, on one line
};

/// Extracts the members that filters use.
Result<FeedEvent> read_feed_event(std::uint64_t number, std::string_view json);

enum class StreamFormat : std::uint8_t { Sse, WebSocket };

/// `event: TYPE`, `id: N`, `data: {…}`; or `{"type":"event","event":{…}}`.
void append_event(std::string& out, StreamFormat stream_format, const FeedEvent& event);

std::string gap_text(StreamFormat stream_format, std::uint64_t from, std::uint64_t to);
inline constexpr std::string_view kOffsetBeyondLog =
    "the event log ends before that number; continuing at the newest event";
std::string reset_text(StreamFormat stream_format, std::uint64_t number, std::string_view reason = kOffsetBeyondLog);
std::string resume_text(StreamFormat stream_format, std::uint64_t after, std::string_view reason);

inline constexpr std::string_view kSseOpening = "retry: 1000\n\n";  // reconnect delay of a browser
inline constexpr std::string_view kSseHeartbeat = ": heartbeat\n\n";

}  // namespace relay::api
