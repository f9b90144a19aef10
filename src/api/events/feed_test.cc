#include "api/events/feed.h"

#include <gtest/gtest.h>

#include <charconv>
#include <list>
#include <random>
#include <set>

#include "api/testing/fake_event_workspace.h"
#include "base/format.h"
#include "client/testing/virtual_loop.h"

namespace relay::api {
namespace {

using client::testing::VirtualLoop;
using testing::FakeEventWorkspace;

/// The parsed stream of a reader: event numbers, gaps and notices.
struct ParsedStream {
  std::vector<std::uint64_t> numbers;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;
  std::vector<std::string> notices;
  std::uint64_t last_id = 0;
};

ParsedStream parse_stream(std::string_view text) {
  ParsedStream parsed;
  while (!text.empty()) {
    const auto event = text.substr(0, text.find("\n\n"));
    text.remove_prefix(std::min(text.size(), event.size() + 2));
    const auto id = event.find("id: ");
    if (id == std::string_view::npos) continue;
    std::from_chars(event.data() + id + 4, event.data() + event.size(), parsed.last_id);
    const auto data = event.substr(event.find("data: ") + 6);
    if (!event.contains("event: relay.")) {
      parsed.numbers.push_back(parsed.last_id);
      EXPECT_TRUE(data.contains(format("\"_seq\":{},", parsed.last_id))) << event;
      continue;
    }
    parsed.notices.emplace_back(event.substr(event.find("event: ")));
    if (!event.contains("relay.gap")) continue;
    const auto object = parse_json_object(data).value();
    parsed.gaps.emplace_back(object.at("from").as_int64(), object.at("to").as_int64());
  }
  return parsed;
}

/// A sink that drains on request.
struct TestReader final : FeedSink {
  std::string pending, received;  // backlog, and drained
  std::optional<std::uint64_t> ended;
  std::string end_reason;
  bool fast = true;
  std::size_t max_pending = 0;
  std::unique_ptr<FeedReader> position;

  void write(net::SharedBuffer buffer) override {
    pending += *buffer;
    max_pending = std::max(max_pending, pending.size());
  }
  [[nodiscard]] std::size_t waiting_bytes() const override { return pending.size(); }
  void end(std::uint64_t after, const std::string& reason) override {
    pending += resume_text(StreamFormat::Sse, after, reason);
    ended = after;
    end_reason = reason;
    position.reset();
  }
  bool drain() {
    if (pending.empty()) return false;
    received += std::exchange(pending, {});
    if (position) position->on_drained();
    return true;
  }
};

struct FeedTest : ::testing::Test {
  VirtualLoop loop;
  FakeEventWorkspace workspace{loop};
  FeedLimits limits;
  std::optional<Feed> feed;
  std::list<TestReader> readers;

  TestReader& read(EventSubscription subscription = {}, StreamFormat stream_format = StreamFormat::Sse) {
    if (!feed) feed.emplace(loop, workspace, limits);
    auto& reader = readers.emplace_back();
    feed->when_following([this, &reader, subscription, stream_format](Result<std::uint64_t> newest) {
      ASSERT_TRUE(newest.has_value()) << newest.error().message();
      reader.position = feed->open_reader(subscription, subscription.after.value_or(subscription.since ? 0 : *newest),
                                          stream_format, reader);
    });
    settle();
    return reader;
  }
  /// Advances time until the fast readers have read everything.
  void settle() {
    for (int i = 0; i < 300; ++i) {
      loop.advance(Millis{5});
      for (auto& reader : readers)
        if (reader.fast) reader.drain();
    }
  }
  void emit(int count, std::string_view type = "item.started", std::string_view text = "") {
    for (int i = 0; i < count; ++i) workspace.emit(type, "Alice", "s-1", text);
  }
  static std::vector<std::uint64_t> from_to(std::uint64_t from, std::uint64_t to) {
    std::vector<std::uint64_t> all;
    while (from <= to) all.push_back(from++);
    return all;
  }
  ~FeedTest() override { readers.clear(); }
};

TEST_F(FeedTest, SendsNewEvents) {
  emit(3);
  auto& reader = read();
  EXPECT_TRUE(parse_stream(reader.received).numbers.empty());
  emit(2);
  settle();
  EXPECT_EQ(parse_stream(reader.received).numbers, from_to(4, 5));
}

TEST_F(FeedTest, ReplaysStoredEventsByPagesThenGoesLive) {
  limits.page_rows = 7;
  emit(100);
  auto& reader = read({.after = 10});
  emit(5);
  settle();
  EXPECT_EQ(parse_stream(reader.received).numbers, from_to(11, 105));
  EXPECT_TRUE(parse_stream(reader.received).notices.empty());
}

TEST_F(FeedTest, FormatsABatchOncePerGroup) {
  auto &one = read(), &two = read(), &other = read({.types = {"message"}});
  one.fast = two.fast = false;
  for (int i = 0; i < 20; ++i) {
    emit(1);
    loop.advance(Millis{0});
  }
  EXPECT_EQ(one.pending, "") << "not before the batch";
  loop.advance(limits.batch);
  EXPECT_EQ(parse_stream(one.pending).numbers, from_to(1, 20));
  EXPECT_EQ(one.pending, two.pending);
  EXPECT_EQ(other.pending, "");
  EXPECT_EQ(feed->counts().sent, 40u);
}

TEST_F(FeedTest, FiltersByTypeGroupAgentAndSession) {
  auto &items = read({.types = {"item"}}), &started = read({.types = {"item.started"}});
  auto &bob = read({.agents = {"Bob"}}), &session = read({.sessions = {"s-2"}});
  workspace.emit("item.started");              // 1
  workspace.emit("item.completed", "Bob");     // 2
  workspace.emit("session.ended", "Bob");      // 3
  workspace.emit("item.delta", "Eve", "s-2");  // 4
  settle();
  using Numbers = std::vector<std::uint64_t>;
  EXPECT_EQ(parse_stream(items.received).numbers, (Numbers{1, 2, 4}));
  EXPECT_EQ(parse_stream(started.received).numbers, (Numbers{1}));
  EXPECT_EQ(parse_stream(bob.received).numbers, (Numbers{2, 3}));
  EXPECT_EQ(parse_stream(session.received).numbers, (Numbers{4}));
}

TEST_F(FeedTest, StartsAtATime) {
  emit(3);
  loop.advance(Millis{1'000});
  const auto since = loop.now().wall;
  emit(2);
  auto& reader = read({.since = since});
  auto& future = read({.since = loop.now().wall + 60'000});
  emit(1);
  settle();
  EXPECT_EQ(parse_stream(reader.received).numbers, from_to(4, 6));
  EXPECT_EQ(future.received, "");
  loop.advance(Millis{60'000});
  emit(1);
  settle();
  EXPECT_EQ(parse_stream(future.received).numbers, from_to(7, 7));
}

TEST_F(FeedTest, ReportsPrunedEventsAsGap) {
  emit(50);
  workspace.drop_before(31);
  auto& reader = read({.after = 10});
  EXPECT_EQ(parse_stream(reader.received).numbers, from_to(31, 50));
  EXPECT_TRUE(reader.received.starts_with(": events 11 to 30 are no longer stored\nevent: relay.gap\nid: 30\n"))
      << reader.received;
  auto& nothing_left = read({.after = 50});
  EXPECT_EQ(nothing_left.received, "");
  auto& by_time = read({.since = 1});
  EXPECT_TRUE(parse_stream(by_time.received).notices.empty()) << "a start by time has no gap before it";
}

TEST_F(FeedTest, ResetsAReaderBeyondTheLog) {
  emit(5);
  auto& reader = read({.after = 900});
  EXPECT_TRUE(reader.received.starts_with("event: relay.reset\nid: 5\n")) << reader.received;
  emit(1);
  settle();
  EXPECT_EQ(parse_stream(reader.received).numbers, from_to(6, 6));
}

TEST_F(FeedTest, AcceptsACursorAheadOfTheFeed) {
  read();
  workspace.notify_delay = [] { return Millis{500}; };
  emit(3);
  auto& reader = readers.emplace_back();
  reader.position = feed->open_reader({.after = 3}, 3, StreamFormat::Sse, reader);
  settle();
  emit(1);
  settle();
  EXPECT_EQ(parse_stream(reader.received).numbers, from_to(4, 4)) << "neither a reset nor a repeated event";
  EXPECT_TRUE(parse_stream(reader.received).notices.empty());
}

TEST_F(FeedTest, ResetsReadersWhenTheLogIsReplaced) {
  emit(8);
  auto& reader = read();
  workspace.reset_log();
  emit(2);
  settle();
  EXPECT_TRUE(reader.received.starts_with("event: relay.reset\nid: 0\n")) << reader.received;
  EXPECT_EQ(parse_stream(reader.received).numbers, from_to(1, 2));
}

TEST_F(FeedTest, ChecksTheLogAfterADisconnect) {
  emit(8);
  auto& reader = read();
  workspace.error = "no listener";
  workspace.disconnect();
  loop.advance(Millis{100});
  workspace.reset_log();
  workspace.error.clear();
  settle();
  EXPECT_TRUE(reader.received.starts_with("event: relay.reset\nid: 0\n")) << reader.received;
  emit(1);
  settle();
  EXPECT_EQ(parse_stream(reader.received).numbers, from_to(1, 1));
}

TEST_F(FeedTest, ReadsANewStoresLogFromItsStart) {
  emit(8);
  auto& live = read();
  auto& socket = read({}, StreamFormat::WebSocket);
  emit(1);
  settle();
  live.received.clear();
  workspace.reconnect_with_new_store([&] { emit(20); });
  settle();
  EXPECT_TRUE(live.received.starts_with("event: relay.reset\nid: 0\n")) << live.received;
  EXPECT_EQ(parse_stream(live.received).numbers, from_to(1, 20)) << "no number is mistaken for one of the old log";
  EXPECT_TRUE(socket.received.contains(R"({"type":"reset","newest":0,)")) << socket.received;
  emit(1);
  settle();
  EXPECT_EQ(parse_stream(live.received).numbers, from_to(1, 21));
}

TEST_F(FeedTest, DetectsAReplacedLogByAPage) {
  emit(8);
  auto& live = read();
  workspace.reset_log();
  auto& old = read({.after = 5});  // in no ring: it needs a page
  EXPECT_TRUE(old.received.starts_with("event: relay.reset\nid: 0\n")) << old.received;
  EXPECT_TRUE(live.received.starts_with("event: relay.reset\nid: 0\n")) << live.received;
  emit(1);
  settle();
  EXPECT_EQ(parse_stream(old.received).numbers, from_to(1, 1));
  EXPECT_EQ(parse_stream(live.received).numbers, from_to(1, 1));
}

TEST_F(FeedTest, EvictsASlowReaderWithResumeNotice) {
  limits.ring_events = 100;
  auto &slow = read(), &fast = read();
  slow.fast = false;
  for (int i = 0; i < 20; ++i) {
    emit(20, "item.delta", std::string(200, 'x'));
    settle();
  }
  ASSERT_TRUE(slow.ended.has_value());
  EXPECT_EQ(feed->counts().evicted, 1u);
  EXPECT_EQ(parse_stream(fast.received).numbers, from_to(1, 400));
  slow.drain();
  auto seen = parse_stream(slow.received).numbers;
  EXPECT_EQ(seen, from_to(1, *slow.ended)) << "the backlog was sent completely";
  EXPECT_TRUE(
      slow.received.contains(format("event: relay.resume\nid: {}\ndata: {{\"after\":{},", *slow.ended, *slow.ended)));
  auto& resumed = read({.after = parse_stream(slow.received).last_id});
  std::ranges::copy(parse_stream(resumed.received).numbers, std::back_inserter(seen));
  EXPECT_EQ(seen, from_to(1, 400));
}

TEST_F(FeedTest, BoundsTheBacklogOfAReader) {
  limits.waiting_bytes = 2'000;
  emit(200, "item.delta", std::string(300, 'x'));
  auto &past = read({.after = 0}), &live = read();
  past.fast = live.fast = false;
  emit(200, "item.delta", std::string(300, 'x'));
  settle();
  for (auto* reader : {&past, &live}) {
    while (reader->drain()) loop.advance(Millis{30});
    EXPECT_LT(reader->max_pending, 2'000u + 600u);
  }
  EXPECT_EQ(parse_stream(past.received).numbers, from_to(1, 400));
  EXPECT_EQ(parse_stream(live.received).numbers, from_to(201, 400));
}

TEST_F(FeedTest, LimitsPageQueriesInFlight) {
  limits.max_open_pages = 3;
  limits.page_rows = 2;
  emit(20);
  workspace.delay = [] { return Millis{2}; };
  for (int i = 0; i < 10; ++i) read({.after = 0});
  EXPECT_LE(workspace.max_open_requests, 3u);
  for (auto& reader : readers) EXPECT_EQ(parse_stream(reader.received).numbers, from_to(1, 20));
}

TEST_F(FeedTest, RetriesAFailedPageQuery) {
  emit(20);
  read();
  workspace.error = "the disk is full";
  auto& reader = read({.after = 0});
  EXPECT_EQ(reader.received, "");
  workspace.error.clear();
  settle();
  EXPECT_EQ(parse_stream(reader.received).numbers, from_to(1, 20));
}

TEST_F(FeedTest, FollowsWhileThereAreReadersAndIdleTimeoutLonger) {
  auto& reader = read();
  EXPECT_TRUE(workspace.is_followed());
  reader.position.reset();
  loop.advance(limits.idle_timeout - Millis{1});
  EXPECT_TRUE(workspace.is_followed());
  loop.advance(Millis{1});
  EXPECT_FALSE(workspace.is_followed());
  EXPECT_EQ(loop.waiting(), 0u) << "an idle feed never wakes";
  emit(2);
  auto& next = read();
  emit(1);
  settle();
  EXPECT_EQ(parse_stream(next.received).numbers, from_to(3, 3));
}

TEST_F(FeedTest, SendsHeartbeatsToReadersWithoutBacklog) {
  limits.heartbeat = Millis{30'000};
  auto &reader = read(), &slow = read();
  slow.fast = false;
  emit(1);
  settle();
  for (int i = 0; i < 2; ++i) {
    loop.advance(Millis{30'000});
    reader.drain();
  }
  EXPECT_TRUE(reader.received.ends_with(": heartbeat\n\n: heartbeat\n\n")) << reader.received;
  EXPECT_FALSE(slow.pending.contains("heartbeat"));
}

TEST_F(FeedTest, KeepsAnEventLargerThanItsBounds) {
  limits.ring_bytes = 1'000;
  limits.waiting_bytes = 500;
  auto& reader = read();
  for (int i = 0; i < 3; ++i) {
    emit(1, "item.delta", std::string(5'000, 'x'));
    settle();
  }
  EXPECT_EQ(parse_stream(reader.received).numbers, from_to(1, 3));
}

TEST_F(FeedTest, EndsEveryReaderOnClose) {
  emit(4);
  auto &reader = read(), &past = read({.after = 2});
  feed->close("the daemon ends");
  EXPECT_EQ(reader.ended, 4u);
  EXPECT_EQ(past.ended, 4u);
  EXPECT_EQ(past.end_reason, "the daemon ends");
  EXPECT_EQ(feed->counts().readers, 0u);
}

/// A client that reads fast or slowly, disconnects at random and resumes after its last number. Page responses and
/// events are delayed at random, and the log is pruned.
class ReconnectingClient {
 public:
  ReconnectingClient(Feed& feed, EventSubscription subscription) : feed_{feed}, subscription_{std::move(subscription)} {
    feed_.when_following([this](Result<std::uint64_t> newest) {
      start_ = subscription_.after.value_or(*newest);
      last_ = start_;
      open();
    });
  }
  void open() {
    reader_.emplace();
    auto subscription = subscription_;
    subscription.after = last_;
    reader_->position = feed_.open_reader(subscription, last_, StreamFormat::Sse, *reader_);
  }
  void on_output(std::string_view text) {
    const auto parsed = parse_stream(text);
    numbers_.insert(numbers_.end(), parsed.numbers.begin(), parsed.numbers.end());
    gaps_.insert(gaps_.end(), parsed.gaps.begin(), parsed.gaps.end());
    if (parsed.last_id > 0) last_ = parsed.last_id;
  }
  bool drain() {
    if (!reader_) return false;
    const auto drained = reader_->drain();
    on_output(std::exchange(reader_->received, {}));
    if (!reader_->ended) return drained;
    reconnect();
    return true;
  }
  void reconnect() {
    if (!reader_) return;
    reader_.reset();  // the backlog is lost
    feed_.when_following([this](const Result<std::uint64_t>& newest) {
      if (newest) open();
    });
  }
  void check(const FakeEventWorkspace& workspace, const std::function<bool(std::uint64_t)>& matches) const {
    ASSERT_TRUE(reader_.has_value());
    std::vector<std::uint64_t> expected;
    for (auto number = start_ + 1; number <= workspace.newest(); ++number) {
      const bool lost =
          std::ranges::any_of(gaps_, [&](auto gap) { return gap.first <= number && number <= gap.second; });
      if (matches(number) && !lost) expected.push_back(number);
    }
    EXPECT_EQ(numbers_, expected);
  }

 private:
  Feed& feed_;
  EventSubscription subscription_;
  std::uint64_t start_ = 0, last_ = 0;
  std::optional<TestReader> reader_;
  std::vector<std::uint64_t> numbers_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps_;
};

TEST(FeedReplay, EveryReaderSeesEachEventOnceInAnyInterleaving) {
  const auto first = static_cast<unsigned>(GTEST_FLAG_GET(random_seed));  // others: --gtest_random_seed=N
  for (unsigned seed = first; seed < first + 12; ++seed) {
    SCOPED_TRACE(format("seed {}", seed));
    std::mt19937 random{seed};
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    VirtualLoop loop;
    FakeEventWorkspace workspace{loop};
    workspace.delay = [&] { return Millis{below(40)}; };
    workspace.notify_delay = [&] { return Millis{below(30)}; };
    FeedLimits limits;
    limits.ring_events = 4 + below(60);
    limits.waiting_bytes = 200 + below(3'000);
    limits.page_rows = 1 + below(20);
    limits.max_open_pages = 1 + below(3);
    limits.idle_timeout = Millis{below(100)};
    limits.retry = Millis{10};
    const std::vector<std::string> types{"item.started", "item.delta", "session.ended"}, agents{"Alice", "Bob"};
    std::vector<std::pair<std::string, std::string>> log;
    const auto emit = [&] {
      log.emplace_back(types[below(3)], agents[below(2)]);
      workspace.emit(log.back().first, log.back().second, "s", std::string(below(200), 'x'));
    };
    for (unsigned i = below(60); i > 0; --i) emit();
    Feed feed{loop, workspace, limits};
    std::vector<EventSubscription> subscriptions{
        {}, {.types = {"item"}}, {.agents = {"Bob"}}, {.types = {"session.ended"}, .agents = {"Alice"}}};
    std::vector<std::pair<std::unique_ptr<ReconnectingClient>, EventSubscription>> clients;
    for (int step = 0; step < 250; ++step) {
      switch (below(12)) {
        case 0:
          if (clients.size() < 12) {
            auto subscription = subscriptions[below(4)];
            if (below(2) == 0) subscription.after = below(static_cast<unsigned>(workspace.newest()) + 1);
            clients.emplace_back(std::make_unique<ReconnectingClient>(feed, subscription), subscription);
          }
          break;
        case 1:
          for (unsigned i = below(30); i > 0; --i) emit();
          break;
        case 2:
          if (!clients.empty()) clients[below(static_cast<unsigned>(clients.size()))].first->reconnect();
          break;
        case 3:
          if (below(8) == 0) workspace.drop_before(1 + below(static_cast<unsigned>(workspace.newest()) + 1));
          break;
        case 4:
        case 5: emit(); break;
        default:
          if (!clients.empty()) clients[below(static_cast<unsigned>(clients.size()))].first->drain();
          loop.advance(Millis{below(15)});
      }
    }
    for (int idle_turns = 0; idle_turns < 60;) {  // until all clients have caught up
      loop.advance(Millis{5});
      bool any = false;
      for (auto& [client, subscription] : clients) any = client->drain() || any;
      idle_turns = any ? 0 : idle_turns + 1;
    }
    for (const auto& [client, subscription] : clients) {
      const records::EventFilter filter{subscription.types, subscription.agents, {}};
      client->check(workspace, [&](std::uint64_t number) {
        return filter.matches(log[number - 1].first, log[number - 1].second, "s");
      });
    }
    clients.clear();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace relay::api
