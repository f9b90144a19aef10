/// All who want the same events in the same dialect: what is written to them exists once.
///
/// Why blocks: a thousand readers stand at the same number after each batch, so the events of the next batch are filtered,
///   written and joined once, and a thousand queues hold a pointer. A reader that stands elsewhere has blocks of its own.
/// Invariants: a block is at most `block_bytes` and one event long, and lives as long as somebody still has to be sent it.
/// Ownership: shared by its readers; the feed only finds it again.
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

/// Where the events of one reader go. Nothing here calls the feed.
class FeedSink {
 public:
  virtual ~FeedSink() = default;
  virtual void write(net::SharedBuffer buffer) = 0;
  [[nodiscard]] virtual std::size_t waiting_bytes() const = 0;
  /// The reader is let go; everything up to that number was written to it. Last call, in which it may be destroyed.
  virtual void end(std::uint64_t after, const std::string& reason) = 0;
};

/// Events becoming pieces: many in one, or one for each, as the dialect has it.
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
  [[nodiscard]] const EventSubscription& subscription() const { return subscription_; }  // without a place to begin

  struct BlockRange {
    std::uint64_t to = 0;  // everything up to here was looked at
    std::uint64_t events = 0;
  };
  /// Writes what follows `from` in the ring, up to `until` or until it is large enough.
  BlockRange write_events(const FeedRing& ring, std::uint64_t from, std::uint64_t until, std::size_t block_bytes,
                          FeedSink& sink);
  /// The numbers mean other events from now on.
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
