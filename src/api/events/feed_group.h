/// The readers with the same subscription and stream format. The bytes written to them exist once.
///
/// Why blocks: after each batch most readers have the same cursor, so the next batch is filtered and formatted once and
///   every queue holds a pointer to it. A reader with another cursor gets blocks of its own.
/// Invariants: a block is at most `block_bytes` and one event long. It lives while it is queued for some reader.
/// Ownership: shared by its readers; the feed holds weak pointers.
/// Threading: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/events/event_subscription.h"
#include "api/events/event_text.h"
#include "api/events/feed_ring.h"
#include "net/write_queue.h"
#include "records/events.h"

namespace relay::api {

/// The output of one reader. Its functions do not call the feed.
class FeedSink {
 public:
  virtual ~FeedSink() = default;
  virtual void write(net::SharedBuffer buffer) = 0;
  [[nodiscard]] virtual std::size_t waiting_bytes() const = 0;
  /// Ends the reader; everything up to that number was written to it. The last call; it may destroy the sink.
  virtual void end(std::uint64_t after, const std::string& reason) = 0;
};

/// Formats events into buffers: one for all server-sent events, one per WebSocket message.
class BlockWriter {
 public:
  explicit BlockWriter(StreamFormat stream_format) : stream_format_{stream_format} {}
  void add(const FeedEvent& event);
  [[nodiscard]] std::size_t bytes() const { return bytes_ + text_.size(); }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::vector<net::SharedBuffer> take();

 private:
  StreamFormat stream_format_;
  std::string text_;
  std::size_t bytes_ = 0;
  std::uint64_t events_ = 0;
  std::vector<net::SharedBuffer> buffers_;
};

class FeedGroup {
 public:
  FeedGroup(EventSubscription subscription, StreamFormat stream_format);

  [[nodiscard]] bool matches(const EventSubscription& subscription, StreamFormat stream_format) const;
  [[nodiscard]] StreamFormat stream_format() const { return stream_format_; }
  [[nodiscard]] const EventSubscription& subscription() const { return subscription_; }  // without a start

  struct BlockRange {
    std::uint64_t to = 0;  // the last event that was examined
    std::uint64_t events = 0;
  };
  /// Writes the matching events after `from` up to `until`, or up to one block.
  BlockRange write_events(const FeedRing& ring, std::uint64_t from, std::uint64_t until, std::size_t block_bytes,
                          FeedSink& sink);
  /// Drops all blocks, because the numbers now mean other events.
  void clear_blocks() { blocks_ = {}; }

 private:
  struct Block {
    std::uint64_t from = 0;
    BlockRange range;
    std::vector<std::weak_ptr<const std::string>> buffers;
    [[nodiscard]] bool is_alive() const;
  };

  EventSubscription subscription_;
  records::EventFilter filter_;
  StreamFormat stream_format_;
  std::array<Block, 8> blocks_ = {};
  std::size_t oldest_ = 0;
};

}  // namespace relay::api
