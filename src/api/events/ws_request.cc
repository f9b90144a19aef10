#include "api/events/ws_request.h"

#include "base/format.h"
#include "base/json.h"
#include "protocol/names.h"

namespace relay::api {
namespace {

Result<std::vector<std::string>> texts_in(const json::object& object, std::string_view name) {
  std::vector<std::string> texts;
  const auto* const member = object.if_contains(name);
  if (member == nullptr || member->is_null()) return texts;
  const auto* const list = member->if_array();
  if (list == nullptr) return fail(format("\"{}\" must be a list of texts", name));
  for (const auto& one : *list) {
    if (!one.is_string()) return fail(format("\"{}\" must be a list of texts", name));
    texts.emplace_back(one.as_string());
  }
  return texts;
}

Result<SocketRequest> subscription(const json::object& object) {
  EventSubscription wish{.types = RELAY_TRY(texts_in(object, "types")),
                         .agents = RELAY_TRY(texts_in(object, "agents")),
                         .sessions = RELAY_TRY(texts_in(object, "sessions"))};
  if (const auto* const after = object.if_contains("after"); after != nullptr && !after->is_null()) {
    const auto number = integer_member(object, "after");
    if (!number || *number < 0) return fail("\"after\" must be a whole number that is not negative, such as 42");
    wish.after = static_cast<std::uint64_t>(*number);
  }
  RELAY_TRY(check_event_wish(wish));
  return SubscribeRequest{std::move(wish)};
}

Result<std::string> agent_in(const json::object& object) {
  auto name = string_member(object, "agent");
  if (!name) return fail("\"agent\" must name the agent");
  RELAY_TRY(protocol::check_agent_name(*name));
  return *std::move(name);
}

}  // namespace

Result<SocketRequest> read_socket_request(std::string_view text) {
  if (text.size() > kMaxSocketRequestBytes)
    return fail(format("a message here may have {} bytes, this one has {}", kMaxSocketRequestBytes, text.size()));
  const auto object = RELAY_TRY(parse_json_object(text));
  const auto type = string_member(object, "type").value_or("");
  if (type == "subscribe") return subscription(object);
  if (type == "watch") return WatchRequest{RELAY_TRY(agent_in(object))};
  if (type == "unwatch") return UnwatchRequest{RELAY_TRY(agent_in(object))};
  return fail(format("\"{}\" is nothing that can be said here; say subscribe, watch or unwatch as \"type\"", type));
}

}  // namespace relay::api
