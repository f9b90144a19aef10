/// An event from the workspace to one SSE reader, up to the bytes of the stream.
#include "api/events/feed_group.h"
#include "api/events/feed_ring.h"
#include "base/format.h"
#include "paths.h"
#include "prose.h"

namespace relay::cost {
namespace {

constexpr std::uint64_t kEvents = 500;
constexpr std::uint64_t kBatchEvents = 20;  // per write
constexpr std::size_t kBlockBytes = 64 * 1024;

/// Accepts everything at once.
struct Reader final : api::FeedSink {
  std::size_t bytes = 0;
  void write(net::SharedBuffer buffer) override { bytes += buffer->size(); }
  [[nodiscard]] std::size_t waiting_bytes() const override { return 0; }
  void end(std::uint64_t, const std::string&) override {}
};

}  // namespace

Workload prepare_event() {
  std::vector<std::string> events;
  for (std::uint64_t number = 1; number <= kEvents; ++number)
    events.push_back(format(R"({{"type":"item.completed","_seq":{},"_ts":1734440000000,"_agentName":"Alice",)"
                            R"("_sessionId":"session-1","item":{{"id":"item-{}","kind":"message","text":"{}"}}}})",
                            number, number, prose(256, number)));
  return [events = std::move(events)] {
    api::FeedRing ring{kEvents, kEvents * kBlockBytes};
    api::FeedGroup group{{}, api::StreamFormat::Sse};
    Reader reader;
    std::uint64_t written = 0;
    for (std::uint64_t number = 1; number <= kEvents; ++number) {
      auto event = api::read_feed_event(number, events[number - 1]);
      RELAY_ASSERT(event);
      ring.push(*std::move(event));
      if (number % kBatchEvents == 0)
        written += group.write_events(ring, number - kBatchEvents, number, kBlockBytes, reader).events;
    }
    RELAY_ASSERT(written == kEvents && reader.bytes > kEvents * 256);
    return written;
  };
}

}  // namespace relay::cost
