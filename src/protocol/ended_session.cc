#include "protocol/ended_session.h"

#include <algorithm>
#include <cctype>

#include "base/json.h"
#include "protocol/errors.h"
#include "protocol/limits.h"
#include "text/json_writer.h"

namespace relay::protocol {
namespace {

constexpr std::size_t kMaxPlainSessionBytes = 64;
constexpr std::size_t kEventFrameBytes = 64;  // of the JSON around an event

}  // namespace

bool is_plain_session_id(std::string_view session) {
  return !session.empty() && session.size() <= kMaxPlainSessionBytes &&
         std::ranges::all_of(session, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
}

Result<EndedSession> parse_ended_session(std::string_view text) {
  const auto object = RELAY_TRY(parse_json_object(text));
  EndedSession ended;
  ended.agent = string_member(object, "agent").value_or("");
  ended.session = string_member(object, "session").value_or("");
  if (ended.agent.empty() || ended.agent.size() > kMaxNameBytes || !is_plain_session_id(ended.session))
    return fail(Errc::BadField, "an ended session has an agent and a session");
  const auto* bye = object_member(object, "bye");
  if (bye == nullptr) return fail(Errc::BadField, "an ended session has a bye");
  ended.bye = RELAY_TRY(parse_bye(json::serialize(*bye)));
  if (const auto* events = array_member(object, "events"))
    for (const auto& value : *events) {
      const auto* event = value.if_object();
      const auto* payload = event == nullptr ? nullptr : object_member(*event, "payload");
      if (payload == nullptr) return fail(Errc::BadField, "an event has an id and a payload");
      ended.events.push_back({string_member(*event, "id").value_or(""), json::serialize(*payload)});
    }
  return ended;
}

std::string write_ended_session(const EndedSession& ended) {
  text::JsonWriter out;
  out.field("agent", ended.agent).field("session", ended.session).raw("bye", write_bye(ended.bye));
  std::size_t room = kMaxEndedSessionBytes - 2 * (kMaxReasonBytes + 3 * kMaxNameBytes) - kEventFrameBytes;
  out.begin_array("events");
  for (const auto& event : ended.events) {
    const auto bytes = event.payload.size() + event.id.size() + kEventFrameBytes;
    if (bytes > room) break;  // the daemon accepts events in order only
    room -= bytes;
    out.begin_element().field("id", event.id).raw("payload", event.payload).end();
  }
  out.end();
  return out.take();
}

}  // namespace relay::protocol
