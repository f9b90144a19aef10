/// Which events somebody wants, and from where on, as a query string and the headers of a request say it. Pure.
///
///     ?types=item.started,message&agent=Alice&since=1707523200000      offset=42      Last-Event-ID: 42
///
/// `offset` and `Last-Event-ID` mean the same: everything with a larger number. The header wins, because a browser that
///   comes back repeats the address it began with and knows better by then. 0 is the beginning; none: from now on.
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
  std::vector<std::string> types = {};  // `item.started`, or a group: `item`; none: all
  std::vector<std::string> agents = {};
  std::vector<std::string> sessions = {};
  std::optional<std::uint64_t> after = {};
  std::optional<WallMs> since = {};

  bool operator==(const EventSubscription&) const = default;
};

/// Other parameters are somebody else's. The error is a sentence for whoever asked.
Result<EventSubscription> parse_event_subscription(const net::QueryParameters& query, const net::HttpHeaders& headers);

/// Are there such types, and are the lists within the bounds of the wire?
Result<void> check_event_subscription(const EventSubscription& subscription);

}  // namespace relay::api
