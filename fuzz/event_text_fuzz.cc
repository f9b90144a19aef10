/// An event's JSON, whatever it is: refused with a sentence, or one whole event for every reader of server-sent events,
/// with the same JSON in it.
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
  std::string told;
  api::append_event(told, api::StreamFormat::Sse, *event);
  const auto heard = net::EventStream{}.feed(told);
  FUZZ_CHECK(heard.size() == 1 && heard[0].type == event->type && heard[0].data == event->json);
  const auto before = parse_json(json), after = parse_json(heard[0].data);
  FUZZ_CHECK(before.has_value() == after.has_value());
  FUZZ_CHECK(!before || *before == *after);
  std::string message;
  api::append_event(message, api::StreamFormat::WebSocket, *event);
  FUZZ_CHECK(!before || parse_json_object(message) || message.size() > json.size());
  return 0;
}
