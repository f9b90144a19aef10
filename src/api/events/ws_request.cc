#include "api/events/ws_request.h"

#include "base/format.h"
#include "base/json.h"
#include "protocol/names.h"

namespace relay::api {
namespace {

Result<std::vector<std::string>> read_strings(const json::object& object, std::string_view name) {
  std::vector<std::string> strings;
  const auto* const member = object.if_contains(name);
  if (member == nullptr || member->is_null()) return strings;
  const auto* const list = member->if_array();
  if (list == nullptr) return fail(format("\"{}\" must be a list of strings", name));
  for (const auto& one : *list) {
    if (!one.is_string()) return fail(format("\"{}\" must be a list of strings", name));
    strings.emplace_back(one.as_string());
  }
  return strings;
}

Result<SocketRequest> read_subscription(const json::object& object) {
  EventSubscription subscription{.types = RELAY_TRY(read_strings(object, "types")),
                                 .agents = RELAY_TRY(read_strings(object, "agents")),
                                 .sessions = RELAY_TRY(read_strings(object, "sessions"))};
  if (const auto* const after = object.if_contains("after"); after != nullptr && !after->is_null()) {
    const auto number = integer_member(object, "after");
    if (!number || *number < 0) return fail("\"after\" must be a non-negative integer such as 42");
    subscription.after = static_cast<std::uint64_t>(*number);
  }
  RELAY_TRY(check_event_subscription(subscription));
  return SubscribeRequest{std::move(subscription)};
}

Result<std::string> read_agent(const json::object& object) {
  auto name = string_member(object, "agent");
  if (!name) return fail("\"agent\" must name the agent");
  RELAY_TRY(protocol::check_agent_name(*name));
  return *std::move(name);
}

}  // namespace

Result<SocketRequest> read_socket_request(std::string_view text) {
  if (text.size() > kMaxSocketRequestBytes)
    return fail(format("a message may have {} bytes, this one has {}", kMaxSocketRequestBytes, text.size()));
  const auto object = RELAY_TRY(parse_json_object(text));
  const auto type = string_member(object, "type").value_or("");
  if (type == "subscribe") return read_subscription(object);
  if (type == "watch") return WatchRequest{RELAY_TRY(read_agent(object))};
  if (type == "unwatch") return UnwatchRequest{RELAY_TRY(read_agent(object))};
  return fail(format("unknown type \"{}\"; use subscribe, watch or unwatch", type));
}

}  // namespace relay::api
