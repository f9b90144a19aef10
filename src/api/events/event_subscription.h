/// Which events a client wants and where they start, parsed from the query string and headers of a request. Pure.
///
///     ?types=item.started,message&agent=Alice&since=1707523200000      offset=42      Last-Event-ID: 42
///
/// `offset` and `Last-Event-ID` both select events with a larger number. The header takes precedence, because a
///   browser that reconnects repeats its first address. 0 selects from the first event; neither selects from now on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/request_target.h"
#include "net/server_request.h"

namespace relay::api {

struct EventSubscription {
  std::vector<std::string> types = {};  // `item.started` or a group such as `item`; empty: all
  std::vector<std::string> agents = {};
  std::vector<std::string> sessions = {};
  std::optional<std::uint64_t> after = {};
  std::optional<WallMs> since = {};

  bool operator==(const EventSubscription&) const = default;
};

/// Ignores other parameters. The error message is for the client.
Result<EventSubscription> parse_event_subscription(const net::QueryParameters& query, const net::HttpHeaders& headers);

/// Checks that the types exist and that the lists are within the bounds of the wire.
Result<void> check_event_subscription(const EventSubscription& subscription);

}  // namespace relay::api
