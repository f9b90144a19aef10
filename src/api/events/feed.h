/// Fans the events of one workspace out to its HTTP readers: one subscription, thousands of readers.
///
///                       pages (EVENTS_QUERY)       ┌─ ring ─┐
///   stored events ──────────▶ a reader's cursor ──▶│ blocks │──▶ readers at that cursor, every `batch`
///                                                  └────────┘◀── new events (WorkspaceClient::follow)
///
/// A reader is a cursor: every matching event up to that number was written to it. Behind the ring it is replayed by
///   pages, at the pace it reads; inside the ring it is live. So no event is lost or repeated between replay and live.
/// Invariants: the ring, the pages in flight and the backlog of each reader are bounded (FeedLimits). A reader with a
///   full backlog is not served until it drains. A reader with a backlog whose cursor leaves the ring is evicted and
///   sent the number to resume from. The workspace is followed while there are readers, and `idle_timeout` longer.
/// Ownership: borrows loop and workspace. Readers from `open_reader` die before the feed; the feed owns its SSE
///   readers.
/// Threading: loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/client/workspace_client.h"
#include "api/events/event_subscription.h"
#include "api/events/feed_group.h"
#include "api/events/feed_ring.h"
#include "api/http/call.h"
#include "base/json.h"
#include "net/event_loop.h"
#include "net/http_response.h"

namespace relay::api {

struct FeedLimits {
  std::size_t readers = 1'000;  // more get 503
  std::size_t ring_events = 16'384;
  std::size_t ring_bytes = 16U * 1024U * 1024U;
  std::size_t waiting_bytes = 64U * 1024U;  // backlog up to which a reader is served; also the block size
  std::size_t page_rows = 200;
  std::size_t max_open_pages = 8;  // page queries in flight
  Millis batch{20};                // from the first new event to the next flush
  Millis heartbeat{30'000};
  Millis idle_timeout{30'000};  // without readers, then the feed stops following
  Millis retry{1'000};          // after a failed page query
};

/// Retry-After of a refused stream.
inline constexpr Millis kStreamRetryAfter{5'000};

struct FeedCounts {
  std::size_t readers = 0;
  std::uint64_t sent = 0;     // events, counted once per reader
  std::uint64_t evicted = 0;  // readers removed because they were too slow
  std::uint64_t refused = 0;  // readers refused because of the limit
};

class Feed;
class SseReader;

/// A position in the feed. Destroying it removes the reader.
class FeedReader {
 public:
  ~FeedReader();
  FeedReader(const FeedReader&) = delete;
  FeedReader& operator=(const FeedReader&) = delete;

  /// The sink has an empty backlog.
  void on_drained();
  /// Every matching event up to this number was written.
  [[nodiscard]] std::uint64_t cursor() const { return cursor_; }

 private:
  friend class Feed;
  enum class Mode : std::uint8_t { Replaying, Live, Evicted };

  FeedReader(Feed& feed, std::uint64_t id, std::shared_ptr<FeedGroup> group, FeedSink& sink)
      : feed_{feed}, id_{id}, group_{std::move(group)}, sink_{sink} {}

  Feed& feed_;
  std::uint64_t id_;
  std::shared_ptr<FeedGroup> group_;
  FeedSink& sink_;
  std::uint64_t cursor_ = 0;
  Mode mode_ = Mode::Replaying;
  bool page_pending_ = false;  // a page query is in flight or queued
  bool reports_gaps_ = true;   // false: it started at a time, so earlier events are not a gap
};

class Feed final : private WorkspaceClient::EventListener {
 public:
  Feed(net::EventLoop& loop, WorkspaceClient& workspace, FeedLimits limits = {});
  ~Feed() override;

  /// Responds with the stream; 503 when there are too many readers or the workspace does not respond.
  void open_sse(EventSubscription subscription, Call call);

  /// Called with the number of the newest event when the feed is following the workspace; possibly at once.
  using OnNewest = std::move_only_function<void(Result<std::uint64_t> newest)>;
  void when_following(OnNewest on_newest);
  /// Adds a reader of the matching events after `after`; null when there are too many. Requires is_following(), which
  /// stays true while there are readers.
  [[nodiscard]] std::unique_ptr<FeedReader> open_reader(const EventSubscription& subscription, std::uint64_t after,
                                                        StreamFormat stream_format, FeedSink& sink);

  /// Ends every reader and sends it the number to resume from.
  void close(const std::string& reason);

  [[nodiscard]] FeedCounts counts() const;
  [[nodiscard]] bool is_following() const { return following_; }

 private:
  friend class FeedReader;
  friend class SseReader;
  using Mode = FeedReader::Mode;

  void on_event(std::uint64_t number, std::string_view json) override;
  void on_disconnected(const std::string& reason) override;
  void on_log_replaced() override;

  /// Queries the number of the newest event.
  void query_newest(std::move_only_function<void(Result<std::uint64_t>)> on_result);
  void on_newest(const Result<std::uint64_t>& newest);
  /// Checks after a lost connection that the log was not replaced.
  void check_log();
  void start_sse(const EventSubscription& subscription, std::uint64_t newest, Call call);
  void remove(const SseReader& reader);
  void remove(const FeedReader& reader);
  void stop_following();
  void schedule_unfollow();

  void schedule_flush();
  void flush();
  /// Live: writes events of the ring while the backlog has room. Replaying: requests the next page when it has room.
  void serve(FeedReader& reader);
  [[nodiscard]] bool has_fallen_behind(FeedReader& reader) const;
  void evict(FeedReader& reader, const std::string& reason);
  void send_heartbeats();
  /// Moves every reader to that number of a new log.
  void reset_log(std::uint64_t number, std::string_view reason = kOffsetBeyondLog);

  void request_page(FeedReader& reader);
  void send_page_queries();
  void on_page(std::uint64_t reader, std::uint64_t newest_at_query, const Result<json::object>& response);
  void take_page(FeedReader& reader, const json::object& page);
  void schedule_retry(FeedReader& reader);
  [[nodiscard]] std::shared_ptr<FeedGroup> group_for(const EventSubscription& subscription, StreamFormat stream_format);

  net::EventLoop& loop_;
  WorkspaceClient& workspace_;
  const FeedLimits limits_;
  FeedRing ring_;
  std::uint64_t flushed_ = 0;  // events up to this number were offered to readers
  std::size_t unflushed_bytes_ = 0;
  bool following_ = false;                // true while the workspace is followed
  std::vector<OnNewest> newest_waiters_;  // run once it is followed
  std::vector<std::weak_ptr<FeedGroup>> groups_;
  std::map<std::uint64_t, FeedReader*> readers_;
  std::uint64_t next_reader_ = 1;
  std::deque<std::uint64_t> page_queue_;
  std::vector<std::uint64_t> retries_;
  std::size_t open_pages_ = 0;
  bool checking_ = false;
  FeedCounts counts_;
  std::unique_ptr<net::Timer> flush_timer_, heartbeat_timer_, idle_timer_, retry_timer_, check_timer_;
  std::shared_ptr<Feed*> self_;  // null for late responses once the feed is destroyed
  std::map<const SseReader*, std::unique_ptr<SseReader>> sse_;
};

}  // namespace relay::api
