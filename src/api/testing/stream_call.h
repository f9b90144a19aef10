/// A request for a stream on a real connection, as dispatch makes one.
#pragma once

#include "api/http/route.h"

namespace relay::api::testing {

inline Call stream_call(std::string_view operation, const net::ServerRequest& request, net::ResponseWriter& reply) {
  auto ways = Call::reply_paths_of(std::move(reply));
  return {route_of(operation), request, {}, {}, std::move(ways.send), std::move(ways.yield)};
}

}  // namespace relay::api::testing
