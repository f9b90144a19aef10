#include "feed/event_source.h"

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "base/format.h"
#include "subjects/cores.h"
#include "subjects/relay_endpoint.h"

namespace relay::bench {
namespace {

using Clock = std::chrono::steady_clock;

std::string event(std::uint64_t number) {
  return frame_of(format(
      R"({{"v":1,"type":"AGENT_EVENT","id":"bench{1}-{0}","ts":1,"payload":{{"event":{{"type":"item.delta","itemId":"i-{0}","delta":{{"type":"text","content":"another few words of what it thinks"}}}}}}}})",
      number, ::getpid()));
}

Result<void> send_events(Peer& peer, int per_second) {
  std::uint64_t sent = 0;
  const auto started = Clock::now();
  for (;;) {
    const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - started).count();
    while (sent < static_cast<std::uint64_t>(passed * per_second / 1'000'000) && peer.queued() < 64 * 1024)
      peer.queue(event(++sent));
    if (peer.queued() > 0) RELAY_TRY(peer.write_some());
    pollfd ready{.fd = peer.fd(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 1) > 0) RELAY_TRY(peer.read_some());
    for (std::string_view body; peer.take(body);) {
      if (body.contains(R"("type":"NACK")")) return fail(std::string{body});
      if (body.contains(R"("type":"PING")"))
        peer.queue(frame_of(R"({"v":1,"type":"PONG","id":"p","ts":1,"payload":{"nonce":""}})"));
    }
  }
}

}  // namespace

Result<ServerProcess> start_event_source(const std::string& socket, int events_per_second) {
  auto peer = RELAY_TRY(Peer::connect(socket));
  RELAY_TRY(peer.write_all(hello_frame({.name = "Alice", .confirms = true})));
  RELAY_TRY(read_welcome(peer));
  auto process = RELAY_TRY(ServerProcess::create());
  RELAY_TRY(process.start([&] {
    use_all_cores();
    const auto ended = send_events(peer, events_per_second);
    std::fprintf(stderr, "the event source stopped: %s\n", ended.error().message().c_str());
  }));
  return process;
}

}  // namespace relay::bench
