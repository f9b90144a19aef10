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
  std::size_t open_pages = 8;  // questions to the workspace at a time
  Millis batch{20};            // from the first new event to the next writing
  Millis heartbeat{30'000};
  Millis linger{30'000};  // without readers
  Millis retry{1'000};    // after a page that failed
};

/// Whoever was one too many may come back then.
inline constexpr Millis kStreamAgainAfter{5'000};

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
  enum class Mode : std::uint8_t { Replaying, Live, LetGo };

  FeedReader(Feed& feed, std::uint64_t id, std::shared_ptr<FeedGroup> audience, FeedSink& outlet)
      : feed_{feed}, id_{id}, audience_{std::move(audience)}, outlet_{outlet} {}

  Feed& feed_;
  std::uint64_t id_;
  std::shared_ptr<FeedGroup> audience_;
  FeedSink& outlet_;
  std::uint64_t cursor_ = 0;
  Mode mode_ = Mode::Replaying;
  bool asking_ = false;       // for a page, or waiting for its turn to
  bool reports_gaps_ = true;  // false: it asked by time, and what was before is none of its business
};

class Feed final : private WorkspaceClient::EventListener {
 public:
  Feed(net::EventLoop& loop, WorkspaceClient& relay, FeedLimits limits = {});
  ~Feed() override;

  /// Answers with the stream; 503 when too many read, or the workspace does not answer.
  void open_sse(EventSubscription wish, Call call);

  /// The newest event's number, as soon as it is known and the feed follows from there; perhaps at once.
  using Known = std::move_only_function<void(Result<std::uint64_t> newest)>;
  void when_known(Known known);
  /// Everything behind `after` that fits. Only while it is known, which it stays while there are readers; null when too
  /// many read.
  [[nodiscard]] std::unique_ptr<FeedReader> read(const EventSubscription& wish, std::uint64_t after,
                                                 StreamFormat dialect, FeedSink& outlet);

  /// Tells everybody where to resume and lets them go.
  void close(const std::string& reason);

  [[nodiscard]] FeedCounts counts() const;
  [[nodiscard]] bool follows() const { return known_; }

 private:
  friend class FeedReader;
  friend class SseReader;
  using Mode = FeedReader::Mode;

  void on_event(std::uint64_t number, std::string_view json) override;
  void on_disconnected(const std::string& why) override;
  void on_log_replaced() override;

  /// Where the log ends.
  void ask_newest(std::move_only_function<void(Result<std::uint64_t>)> told);
  void on_newest(const Result<std::uint64_t>& newest);
  /// Is it still the log we knew? After the connection was lost.
  void check_log();
  void begin_sse(const EventSubscription& wish, std::uint64_t newest, Call call);
  void forget(const SseReader& reader);
  void forget(const FeedReader& reader);
  void stop_following();
  void linger();

  void show_soon();
  void show();
  /// Live: what the ring has and the outlet takes. Replaying: the next page, when the outlet takes one.
  void serve(FeedReader& reader);
  [[nodiscard]] bool fell_behind(FeedReader& reader) const;
  void evict(FeedReader& reader, const std::string& reason);
  void beat();
  /// Everybody goes on at that number of a log that is not the one we knew.
  void begin_anew(std::uint64_t number, std::string_view reason = kLogEndsBefore);

  void want_page(FeedReader& reader);
  void ask_pages();
  void on_page(std::uint64_t reader, std::uint64_t newest_then, const Result<json::object>& answer);
  void take_page(FeedReader& reader, const json::object& page);
  void retry_soon(FeedReader& reader);
  [[nodiscard]] std::shared_ptr<FeedGroup> audience_for(const EventSubscription& wish, StreamFormat dialect);

  net::EventLoop& loop_;
  WorkspaceClient& relay_;
  const FeedLimits limits_;
  FeedRing ring_;
  std::uint64_t shown_ = 0;  // readers are told events up to this number
  std::size_t unshown_bytes_ = 0;
  bool known_ = false;          // where the log ends: we follow
  std::vector<Known> waiting_;  // until it is
  std::vector<std::weak_ptr<FeedGroup>> audiences_;
  std::map<std::uint64_t, FeedReader*> readers_;
  std::uint64_t next_reader_ = 1;
  std::deque<std::uint64_t> want_pages_;
  std::vector<std::uint64_t> retries_;
  std::size_t open_pages_ = 0;
  bool checking_ = false;
  FeedCounts counts_;
  std::unique_ptr<net::Timer> show_timer_, beat_timer_, linger_timer_, retry_timer_, check_timer_;
  std::shared_ptr<Feed*> self_;  // gone with us, for answers that come late
  std::map<const SseReader*, std::unique_ptr<SseReader>> sse_;
};

}  // namespace relay::api
