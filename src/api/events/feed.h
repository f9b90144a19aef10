/// The events of one workspace for everybody who reads them over HTTP: followed once, told to thousands.
///
///                    pages (EVENTS_QUERY)          ┌─ ring ─┐
///   the past ───────────────▶ a reader's cursor ──▶│ blocks │──▶ all who stand there, every `batch`
///                                                  └────────┘◀── the workspace, live (Relay::follow)
///
/// A reader is a cursor, the number up to which everything that fits was written to it. Before the ring it is replayed by
///   pages, at the pace it reads; inside it is live. So there is no seam where something could be missing or come twice.
/// Invariants: the ring, the pages under way and what waits for each reader are bounded (FeedLimits); a reader for whom
///   enough waits is left where it stands until that has drained, and one that still has bytes to take when its place leaves
///   the ring is told where to resume and let go. The workspace is followed while somebody reads and `linger` longer.
/// Ownership: borrows loop and relay. Readers of `read` die before the feed; SSE readers are its own.
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
  std::size_t readers = 1'000;  // one more is told 503
  std::size_t ring_events = 16'384;
  std::size_t ring_bytes = 16U * 1024U * 1024U;
  std::size_t waiting_bytes = 64U * 1024U;  // for a reader, until it is given more; and of a block
  std::size_t page_rows = 200;
  std::size_t max_open_pages = 8;  // questions to the workspace at a time
  Millis batch{20};                // from the first new event to the next writing
  Millis heartbeat{30'000};
  Millis idle_timeout{30'000};  // without readers
  Millis retry{1'000};          // after a page that failed
};

/// Whoever was one too many may come back then.
inline constexpr Millis kStreamRetryAfter{5'000};

struct FeedCounts {
  std::size_t readers = 0;
  std::uint64_t sent = 0;     // events, each for each reader
  std::uint64_t evicted = 0;  // readers that were too slow
  std::uint64_t refused = 0;  // readers that were too many
};

class Feed;
class SseReader;

/// A place in the feed. Destroying it leaves.
class FeedReader {
 public:
  ~FeedReader();
  FeedReader(const FeedReader&) = delete;
  FeedReader& operator=(const FeedReader&) = delete;

  /// The outlet has nothing waiting any more.
  void on_drained();
  /// Everything up to this number was written.
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
  bool page_pending_ = false;  // for a page, or waiting for its turn to
  bool reports_gaps_ = true;   // false: it asked by time, and what was before is none of its business
};

class Feed final : private WorkspaceClient::EventListener {
 public:
  Feed(net::EventLoop& loop, WorkspaceClient& workspace, FeedLimits limits = {});
  ~Feed() override;

  /// Answers with the stream; 503 when too many read, or the workspace does not answer.
  void open_sse(EventSubscription subscription, Call call);

  /// The newest event's number, as soon as it is known and the feed follows from there; perhaps at once.
  using OnNewest = std::move_only_function<void(Result<std::uint64_t> newest)>;
  void when_following(OnNewest on_newest);
  /// Everything behind `after` that fits. Only while it is known, which it stays while there are readers; null when too
  /// many read.
  [[nodiscard]] std::unique_ptr<FeedReader> open_reader(const EventSubscription& subscription, std::uint64_t after,
                                                        StreamFormat stream_format, FeedSink& sink);

  /// Tells everybody where to resume and lets them go.
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

  /// Where the log ends.
  void query_newest(std::move_only_function<void(Result<std::uint64_t>)> on_result);
  void on_newest(const Result<std::uint64_t>& newest);
  /// Is it still the log we knew? After the connection was lost.
  void check_log();
  void start_sse(const EventSubscription& subscription, std::uint64_t newest, Call call);
  void remove(const SseReader& reader);
  void remove(const FeedReader& reader);
  void stop_following();
  void schedule_unfollow();

  void schedule_flush();
  void flush();
  /// Live: what the ring has and the outlet takes. Replaying: the next page, when the outlet takes one.
  void serve(FeedReader& reader);
  [[nodiscard]] bool has_fallen_behind(FeedReader& reader) const;
  void evict(FeedReader& reader, const std::string& reason);
  void send_heartbeats();
  /// Everybody goes on at that number of a log that is not the one we knew.
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
  std::uint64_t flushed_ = 0;  // readers are told events up to this number
  std::size_t unflushed_bytes_ = 0;
  bool following_ = false;                // where the log ends: we follow
  std::vector<OnNewest> newest_waiters_;  // until it is
  std::vector<std::weak_ptr<FeedGroup>> groups_;
  std::map<std::uint64_t, FeedReader*> readers_;
  std::uint64_t next_reader_ = 1;
  std::deque<std::uint64_t> page_queue_;
  std::vector<std::uint64_t> retries_;
  std::size_t open_pages_ = 0;
  bool checking_ = false;
  FeedCounts counts_;
  std::unique_ptr<net::Timer> flush_timer_, heartbeat_timer_, idle_timer_, retry_timer_, check_timer_;
  std::shared_ptr<Feed*> self_;  // gone with us, for answers that come late
  std::map<const SseReader*, std::unique_ptr<SseReader>> sse_;
};

}  // namespace relay::api
