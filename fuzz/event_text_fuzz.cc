/// Any event JSON: an error, or one whole server-sent event with the same JSON.
#include "api/events/event_text.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/json.h"
#include "check.h"
#include "net/event_stream.h"
#include "text/utf8.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace relay;
  const std::string_view json{reinterpret_cast<const char*>(bytes), size};
  if (!text::is_utf8(json)) return 0;  // frames are checked before
  const auto event = api::read_feed_event(7, json);
  FUZZ_CHECK(event || !event.error().message().empty());
  if (!event) return 0;
  std::string stream;
  api::append_event(stream, api::StreamFormat::Sse, *event);
  const auto events = net::EventStream{}.feed(stream);
  FUZZ_CHECK(events.size() == 1 && events[0].type == event->type && events[0].data == event->json);
  const auto before = parse_json(json), after = parse_json(events[0].data);
  FUZZ_CHECK(before.has_value() == after.has_value());
  FUZZ_CHECK(!before || *before == *after);
  std::string message;
  api::append_event(message, api::StreamFormat::WebSocket, *event);
  FUZZ_CHECK(!before || parse_json_object(message) || message.size() > json.size());
  return 0;
}
