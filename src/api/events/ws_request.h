/// Parses the requests of a client on the WebSocket. Pure.
///
///     {"type":"subscribe","types":["item"],"agents":["Bob"],"sessions":[],"after":42}    changes filter or start
///     {"type":"watch","agent":"Bob"}   {"type":"unwatch","agent":"Bob"}                  a terminal
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "api/events/event_subscription.h"
#include "base/result.h"

namespace relay::api {

inline constexpr std::size_t kMaxSocketRequestBytes = 64U * 1024U;

struct SubscribeRequest {
  EventSubscription subscription;  // without `after`: continue at the current position
  bool operator==(const SubscribeRequest&) const = default;
};
struct WatchRequest {
  std::string agent;
  bool operator==(const WatchRequest&) const = default;
};
struct UnwatchRequest {
  std::string agent;
  bool operator==(const UnwatchRequest&) const = default;
};

using SocketRequest = std::variant<SubscribeRequest, WatchRequest, UnwatchRequest>;

/// The error message is for the client.
Result<SocketRequest> read_socket_request(std::string_view text);

}  // namespace relay::api
