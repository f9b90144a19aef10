/// A Call for a stream on a real connection, as dispatch() creates it.
#pragma once

#include "api/http/route.h"

namespace relay::api::testing {

inline Call stream_call(std::string_view operation, const net::ServerRequest& request, net::ResponseWriter& reply) {
  auto paths = Call::reply_paths_of(std::move(reply));
  return {route_of(operation), request, {}, {}, std::move(paths.send), std::move(paths.yield)};
}

}  // namespace relay::api::testing
