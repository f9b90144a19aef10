#include "api/events/event_text.h"

#include <algorithm>

#include "base/format.h"
#include "text/json_scanner.h"
#include "text/json_writer.h"

namespace relay::api {
namespace {

using text::JsonKind;
using text::JsonWriter;

class Members final : public text::MemberVisitor {
 public:
  explicit Members(FeedEvent& event) : event_{event} {}

  void member(std::string_view key, text::JsonSlice value) override {
    if (value.kind == JsonKind::String) {
      if (key == "type") event_.type = text::decode_string(value.raw);
      if (key == "_agentName") event_.agent = text::decode_string(value.raw);
      if (key == "_sessionId") event_.session = text::decode_string(value.raw);
    }
    if (value.kind == JsonKind::Number && key == "_ts") event_.at = text::decode_integer(value.raw).value_or(0);
  }

 private:
  FeedEvent& event_;
};

bool ends_a_line(char c) { return c == '\n' || c == '\r'; }

/// A notice of the feed; `id` is the number to reconnect with.
std::string sse(std::string_view type, std::uint64_t id, std::string_view data) {
  return format("event: {}\nid: {}\ndata: {}\n\n", type, id, data);
}

}  // namespace

Result<FeedEvent> read_feed_event(std::uint64_t number, std::string_view json) {
  FeedEvent event{.number = number, .at = 0, .type = {}, .agent = {}, .session = {}, .json = std::string{json}};
  Members members{event};
  RELAY_TRY(text::scan_object(json, members));
  if (event.type.empty() || std::ranges::any_of(event.type, ends_a_line))
    return fail(format("event {} has no valid type", number));
  std::ranges::replace_if(event.json, ends_a_line, ' ');  // only between members; inside strings they are escaped
  return event;
}

void append_event(std::string& out, StreamFormat stream_format, const FeedEvent& event) {
  switch (stream_format) {
    case StreamFormat::Sse:
      out.append("event: ").append(event.type).append("\nid: ").append(std::to_string(event.number));
      out.append("\ndata: ").append(event.json).append("\n\n");
      return;
    case StreamFormat::WebSocket: out.append(R"({"type":"event","event":)").append(event.json).append("}"); return;
  }
}

std::string gap_text(StreamFormat stream_format, std::uint64_t from, std::uint64_t to) {
  JsonWriter data;
  if (stream_format == StreamFormat::WebSocket) data.field("type", "gap");
  auto json = data.field("from", from).field("to", to).take();
  if (stream_format == StreamFormat::WebSocket) return json;
  return format(": events {} to {} are no longer stored\n", from, to) + sse("relay.gap", to, json);
}

std::string reset_text(StreamFormat stream_format, std::uint64_t number, std::string_view reason) {
  JsonWriter data;
  if (stream_format == StreamFormat::WebSocket) data.field("type", "reset");
  auto json = data.field("newest", number).field("reason", reason).take();
  return stream_format == StreamFormat::WebSocket ? json : sse("relay.reset", number, json);
}

std::string resume_text(StreamFormat stream_format, std::uint64_t after, std::string_view reason) {
  JsonWriter data;
  if (stream_format == StreamFormat::WebSocket) data.field("type", "resume");
  auto json = data.field("after", after).field("reason", reason).take();
  return stream_format == StreamFormat::WebSocket ? json : sse("relay.resume", after, json);
}

}  // namespace relay::api
