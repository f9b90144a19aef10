/// Any client message on the WebSocket: a request within the bounds, or an error.
#include <cstddef>
#include <cstdint>
#include <string>

#include "api/events/ws_request.h"
#include "check.h"
#include "protocol/names.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace relay;
  using namespace relay::api;
  const auto request = read_socket_request({reinterpret_cast<const char*>(bytes), size});
  FUZZ_CHECK(request || !request.error().message().empty());
  if (!request) return 0;
  if (const auto* subscribe = std::get_if<SubscribeRequest>(&*request))
    FUZZ_CHECK(check_event_subscription(subscribe->subscription));
  if (const auto* watch = std::get_if<WatchRequest>(&*request)) FUZZ_CHECK(protocol::check_agent_name(watch->agent));
  return 0;
}
