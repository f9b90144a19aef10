#include "api/events/feed.h"

#include <gtest/gtest.h>

#include <charconv>
#include <list>
#include <random>
#include <set>

#include "api/testing/fake_workspace_client.h"
#include "base/format.h"
#include "client/testing/virtual_loop.h"

namespace relay::api {
namespace {

using client::testing::VirtualLoop;
using testing::FakeRelay;

/// What a reader was told: numbers of events, and what it heard of the feed itself.
struct Told {
  std::vector<std::uint64_t> numbers;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;
  std::vector<std::string> notices;
  std::uint64_t last_id = 0;
};

Told told_in(std::string_view text) {
  Told told;
  while (!text.empty()) {
    const auto event = text.substr(0, text.find("\n\n"));
    text.remove_prefix(std::min(text.size(), event.size() + 2));
    const auto id = event.find("id: ");
    if (id == std::string_view::npos) continue;
    std::from_chars(event.data() + id + 4, event.data() + event.size(), told.last_id);
    const auto data = event.substr(event.find("data: ") + 6);
    if (!event.contains("event: relay.")) {
      told.numbers.push_back(told.last_id);
      EXPECT_TRUE(data.contains(format("\"_seq\":{},", told.last_id))) << event;
      continue;
    }
    told.notices.emplace_back(event.substr(event.find("event: ")));
    if (!event.contains("relay.gap")) continue;
    const auto object = parse_json_object(data).value();
    told.gaps.emplace_back(object.at("from").as_int64(), object.at("to").as_int64());
  }
  return told;
}

/// A reader whose client takes what it likes.
struct Ear final : FeedSink {
  std::string via, heard;  // under way, and taken
  std::optional<std::uint64_t> ended;
  std::string why;
  bool fast = true;
  std::size_t most = 0;
  std::unique_ptr<FeedReader> place;

  void write(net::SharedBuffer piece) override {
    via += *piece;
    most = std::max(most, via.size());
  }
  [[nodiscard]] std::size_t waiting_bytes() const override { return via.size(); }
  void end(std::uint64_t after, const std::string& reason) override {
    via += resume_text(StreamFormat::Sse, after, reason);
    ended = after;
    why = reason;
    place.reset();
  }
  bool drain() {
    if (via.empty()) return false;
    heard += std::exchange(via, {});
    if (place) place->on_drained();
    return true;
  }
};

struct FeedTest : ::testing::Test {
  VirtualLoop loop;
  FakeRelay relay{loop};
  FeedLimits limits;
  std::optional<Feed> feed;
  std::list<Ear> ears;

  Ear& listen(EventSubscription wish = {}, StreamFormat dialect = StreamFormat::Sse) {
    if (!feed) feed.emplace(loop, relay, limits);
    auto& ear = ears.emplace_back();
    feed->when_known([this, &ear, wish, dialect](Result<std::uint64_t> newest) {
      ASSERT_TRUE(newest.has_value()) << newest.error().message();
      ear.place = feed->read(wish, wish.after.value_or(wish.since ? 0 : *newest), dialect, ear);
    });
    settle();
    return ear;
  }
  /// Everybody who reads fast has read everything.
  void settle() {
    for (int i = 0; i < 300; ++i) {
      loop.advance(Millis{5});
      for (auto& ear : ears)
        if (ear.fast) ear.drain();
    }
  }
  void happen(int count, std::string_view type = "item.started", std::string_view text = "") {
    for (int i = 0; i < count; ++i) relay.happen(type, "Alice", "s-1", text);
  }
  static std::vector<std::uint64_t> from_to(std::uint64_t from, std::uint64_t to) {
    std::vector<std::uint64_t> all;
    while (from <= to) all.push_back(from++);
    return all;
  }
  ~FeedTest() override { ears.clear(); }
};

TEST_F(FeedTest, TellsWhatHappensFromNowOn) {
  happen(3);
  auto& ear = listen();
  EXPECT_TRUE(told_in(ear.heard).numbers.empty());
  happen(2);
  settle();
  EXPECT_EQ(told_in(ear.heard).numbers, from_to(4, 5));
}

TEST_F(FeedTest, ReplaysThePastByPagesAndGoesOnLive) {
  limits.page_rows = 7;
  happen(100);
  auto& ear = listen({.after = 10});
  happen(5);
  settle();
  EXPECT_EQ(told_in(ear.heard).numbers, from_to(11, 105));
  EXPECT_TRUE(told_in(ear.heard).notices.empty());
}

TEST_F(FeedTest, WritesABatchOnceForAll) {
  auto &one = listen(), &two = listen(), &other = listen({.types = {"message"}});
  one.fast = two.fast = false;
  for (int i = 0; i < 20; ++i) {
    happen(1);
    loop.advance(Millis{0});
  }
  EXPECT_EQ(one.via, "") << "not before the batch";
  loop.advance(limits.batch);
  EXPECT_EQ(told_in(one.via).numbers, from_to(1, 20));
  EXPECT_EQ(one.via, two.via);
  EXPECT_EQ(other.via, "");
  EXPECT_EQ(feed->counts().sent, 40u);
}

TEST_F(FeedTest, FiltersByTypeGroupAgentAndSession) {
  auto &items = listen({.types = {"item"}}), &started = listen({.types = {"item.started"}});
  auto &bob = listen({.agents = {"Bob"}}), &session = listen({.sessions = {"s-2"}});
  relay.happen("item.started");              // 1
  relay.happen("item.completed", "Bob");     // 2
  relay.happen("session.ended", "Bob");      // 3
  relay.happen("item.delta", "Eve", "s-2");  // 4
  settle();
  using Numbers = std::vector<std::uint64_t>;
  EXPECT_EQ(told_in(items.heard).numbers, (Numbers{1, 2, 4}));
  EXPECT_EQ(told_in(started.heard).numbers, (Numbers{1}));
  EXPECT_EQ(told_in(bob.heard).numbers, (Numbers{2, 3}));
  EXPECT_EQ(told_in(session.heard).numbers, (Numbers{4}));
}

TEST_F(FeedTest, BeginsAtATime) {
  happen(3);
  loop.advance(Millis{1'000});
  const auto since = loop.now().wall;
  happen(2);
  auto& ear = listen({.since = since});
  auto& future = listen({.since = loop.now().wall + 60'000});
  happen(1);
  settle();
  EXPECT_EQ(told_in(ear.heard).numbers, from_to(4, 6));
  EXPECT_EQ(future.heard, "");
  loop.advance(Millis{60'000});
  happen(1);
  settle();
  EXPECT_EQ(told_in(future.heard).numbers, from_to(7, 7));
}

TEST_F(FeedTest, SaysWhichEventsAreNoLongerKept) {
  happen(50);
  relay.keep_from(31);
  auto& ear = listen({.after = 10});
  EXPECT_EQ(told_in(ear.heard).numbers, from_to(31, 50));
  EXPECT_TRUE(ear.heard.starts_with(": events 11 to 30 are no longer kept\nevent: relay.gap\nid: 30\n")) << ear.heard;
  auto& nothing_left = listen({.after = 50});
  EXPECT_EQ(nothing_left.heard, "");
  auto& by_time = listen({.since = 1});
  EXPECT_TRUE(told_in(by_time.heard).notices.empty()) << "what was before is none of its business";
}

TEST_F(FeedTest, TellsAReaderWhoseNumberIsBeyondTheLog) {
  happen(5);
  auto& ear = listen({.after = 900});
  EXPECT_TRUE(ear.heard.starts_with("event: relay.reset\nid: 5\n")) << ear.heard;
  happen(1);
  settle();
  EXPECT_EQ(told_in(ear.heard).numbers, from_to(6, 6));
}

TEST_F(FeedTest, WaitsForAnEventThatSomebodyElseHeardOfFirst) {
  listen();
  relay.notify_delay = [] { return Millis{500}; };
  happen(3);
  auto& ear = ears.emplace_back();
  ear.place = feed->read({.after = 3}, 3, StreamFormat::Sse, ear);
  settle();
  happen(1);
  settle();
  EXPECT_EQ(told_in(ear.heard).numbers, from_to(4, 4)) << "neither a reset nor what it has seen";
  EXPECT_TRUE(told_in(ear.heard).notices.empty());
}

TEST_F(FeedTest, GoesOnWhenTheLogBeginsAnew) {
  happen(8);
  auto& ear = listen();
  relay.begin_anew();
  happen(2);
  settle();
  EXPECT_TRUE(ear.heard.starts_with("event: relay.reset\nid: 0\n")) << ear.heard;
  EXPECT_EQ(told_in(ear.heard).numbers, from_to(1, 2));
}

TEST_F(FeedTest, AsksAfterALossWhetherItIsStillTheSameLog) {
  happen(8);
  auto& ear = listen();
  relay.error = "nobody is there";
  relay.cut();
  loop.advance(Millis{100});
  relay.begin_anew();
  relay.error.clear();
  settle();
  EXPECT_TRUE(ear.heard.starts_with("event: relay.reset\nid: 0\n")) << ear.heard;
  happen(1);
  settle();
  EXPECT_EQ(told_in(ear.heard).numbers, from_to(1, 1));
}

TEST_F(FeedTest, ReadsAnotherStoresLogFromItsBeginningHoweverLongItIs) {
  happen(8);
  auto& live = listen();
  auto& socket = listen({}, StreamFormat::Socket);
  happen(1);
  settle();
  live.heard.clear();
  relay.come_back_with_another_store([&] { happen(20); });
  settle();
  EXPECT_TRUE(live.heard.starts_with("event: relay.reset\nid: 0\n")) << live.heard;
  EXPECT_EQ(told_in(live.heard).numbers, from_to(1, 20)) << "none is taken for one of the old log";
  EXPECT_TRUE(socket.heard.contains(R"({"type":"reset","newest":0,)")) << socket.heard;
  happen(1);
  settle();
  EXPECT_EQ(told_in(live.heard).numbers, from_to(1, 21));
}

TEST_F(FeedTest, NoticesByAPageThatTheLogBeganAnew) {
  happen(8);
  auto& live = listen();
  relay.begin_anew();
  auto& old = listen({.after = 5});  // in no ring: it asks
  EXPECT_TRUE(old.heard.starts_with("event: relay.reset\nid: 0\n")) << old.heard;
  EXPECT_TRUE(live.heard.starts_with("event: relay.reset\nid: 0\n")) << live.heard;
  happen(1);
  settle();
  EXPECT_EQ(told_in(old.heard).numbers, from_to(1, 1));
  EXPECT_EQ(told_in(live.heard).numbers, from_to(1, 1));
}

TEST_F(FeedTest, LetsASlowReaderGoAndTellsItWhereToResume) {
  limits.ring_events = 100;
  auto &slow = listen(), &fast = listen();
  slow.fast = false;
  for (int i = 0; i < 20; ++i) {
    happen(20, "item.delta", std::string(200, 'x'));
    settle();
  }
  ASSERT_TRUE(slow.ended.has_value());
  EXPECT_EQ(feed->counts().evicted, 1u);
  EXPECT_EQ(told_in(fast.heard).numbers, from_to(1, 400));
  slow.drain();
  auto seen = told_in(slow.heard).numbers;
  EXPECT_EQ(seen, from_to(1, *slow.ended)) << "what it was told is whole";
  EXPECT_TRUE(
      slow.heard.contains(format("event: relay.resume\nid: {}\ndata: {{\"after\":{},", *slow.ended, *slow.ended)));
  auto& again = listen({.after = told_in(slow.heard).last_id});
  std::ranges::copy(told_in(again.heard).numbers, std::back_inserter(seen));
  EXPECT_EQ(seen, from_to(1, 400));
}

TEST_F(FeedTest, GivesNoReaderMoreThanItTakes) {
  limits.waiting_bytes = 2'000;
  happen(200, "item.delta", std::string(300, 'x'));
  auto &past = listen({.after = 0}), &live = listen();
  past.fast = live.fast = false;
  happen(200, "item.delta", std::string(300, 'x'));
  settle();
  for (auto* ear : {&past, &live}) {
    while (ear->drain()) loop.advance(Millis{30});
    EXPECT_LT(ear->most, 2'000u + 600u);
  }
  EXPECT_EQ(told_in(past.heard).numbers, from_to(1, 400));
  EXPECT_EQ(told_in(live.heard).numbers, from_to(201, 400));
}

TEST_F(FeedTest, AsksFewPagesAtATime) {
  limits.open_pages = 3;
  limits.page_rows = 2;
  happen(20);
  relay.delay = [] { return Millis{2}; };
  for (int i = 0; i < 10; ++i) listen({.after = 0});
  EXPECT_LE(relay.most_open, 3u);
  for (auto& ear : ears) EXPECT_EQ(told_in(ear.heard).numbers, from_to(1, 20));
}

TEST_F(FeedTest, AsksAgainWhenAPageFailed) {
  happen(20);
  listen();
  relay.error = "the disk is full";
  auto& ear = listen({.after = 0});
  EXPECT_EQ(ear.heard, "");
  relay.error.clear();
  settle();
  EXPECT_EQ(told_in(ear.heard).numbers, from_to(1, 20));
}

TEST_F(FeedTest, FollowsWhileSomebodyReadsAndAMomentLonger) {
  auto& ear = listen();
  EXPECT_TRUE(relay.followed());
  ear.place.reset();
  loop.advance(limits.linger - Millis{1});
  EXPECT_TRUE(relay.followed());
  loop.advance(Millis{1});
  EXPECT_FALSE(relay.followed());
  EXPECT_EQ(loop.waiting(), 0u) << "an idle feed never wakes";
  happen(2);
  auto& next = listen();
  happen(1);
  settle();
  EXPECT_EQ(told_in(next.heard).numbers, from_to(3, 3));
}

TEST_F(FeedTest, SendsAHeartbeatToWhoHasNothingWaiting) {
  limits.heartbeat = Millis{30'000};
  auto &ear = listen(), &slow = listen();
  slow.fast = false;
  happen(1);
  settle();
  for (int i = 0; i < 2; ++i) {
    loop.advance(Millis{30'000});
    ear.drain();
  }
  EXPECT_TRUE(ear.heard.ends_with(": heartbeat\n\n: heartbeat\n\n")) << ear.heard;
  EXPECT_FALSE(slow.via.contains("heartbeat"));
}

TEST_F(FeedTest, KeepsOneEventThatIsLargerThanItsBounds) {
  limits.ring_bytes = 1'000;
  limits.waiting_bytes = 500;
  auto& ear = listen();
  for (int i = 0; i < 3; ++i) {
    happen(1, "item.delta", std::string(5'000, 'x'));
    settle();
  }
  EXPECT_EQ(told_in(ear.heard).numbers, from_to(1, 3));
}

TEST_F(FeedTest, LetsEverybodyGoWhenItCloses) {
  happen(4);
  auto &ear = listen(), &past = listen({.after = 2});
  feed->close("the daemon ends");
  EXPECT_EQ(ear.ended, 4u);
  EXPECT_EQ(past.ended, 4u);
  EXPECT_EQ(past.why, "the daemon ends");
  EXPECT_EQ(feed->counts().readers, 0u);
}

/// Clients that come and go, read fast or slowly, and come back with the last number they heard of; pages and events that
/// come whenever they like; a log that loses its beginning.
class Wanderer {
 public:
  Wanderer(Feed& feed, EventSubscription wish) : feed_{feed}, wish_{std::move(wish)} {
    feed_.when_known([this](Result<std::uint64_t> newest) {
      start_ = wish_.after.value_or(*newest);
      last_ = start_;
      open();
    });
  }
  void open() {
    ear_.emplace();
    auto wish = wish_;
    wish.after = last_;
    ear_->place = feed_.read(wish, last_, StreamFormat::Sse, *ear_);
  }
  void hear(std::string_view text) {
    const auto told = told_in(text);
    numbers_.insert(numbers_.end(), told.numbers.begin(), told.numbers.end());
    gaps_.insert(gaps_.end(), told.gaps.begin(), told.gaps.end());
    if (told.last_id > 0) last_ = told.last_id;
  }
  bool drain() {
    if (!ear_) return false;
    const auto drained = ear_->drain();
    hear(std::exchange(ear_->heard, {}));
    if (!ear_->ended) return drained;
    come_back();
    return true;
  }
  void come_back() {
    if (!ear_) return;
    ear_.reset();  // what was under way is lost
    feed_.when_known([this](const Result<std::uint64_t>& newest) {
      if (newest) open();
    });
  }
  void check(const FakeRelay& relay, const std::function<bool(std::uint64_t)>& fits) const {
    ASSERT_TRUE(ear_.has_value());
    std::vector<std::uint64_t> expected;
    for (auto number = start_ + 1; number <= relay.newest(); ++number) {
      const bool lost =
          std::ranges::any_of(gaps_, [&](auto gap) { return gap.first <= number && number <= gap.second; });
      if (fits(number) && !lost) expected.push_back(number);
    }
    EXPECT_EQ(numbers_, expected);
  }

 private:
  Feed& feed_;
  EventSubscription wish_;
  std::uint64_t start_ = 0, last_ = 0;
  std::optional<Ear> ear_;
  std::vector<std::uint64_t> numbers_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps_;
};

TEST(FeedSeam, EveryReaderSeesEachNumberOnceHoweverThingsInterleave) {
  const auto first = static_cast<unsigned>(GTEST_FLAG_GET(random_seed));  // others: --gtest_random_seed=N
  for (unsigned seed = first; seed < first + 12; ++seed) {
    SCOPED_TRACE(format("seed {}", seed));
    std::mt19937 random{seed};
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    VirtualLoop loop;
    FakeRelay relay{loop};
    relay.delay = [&] { return Millis{below(40)}; };
    relay.notify_delay = [&] { return Millis{below(30)}; };
    FeedLimits limits;
    limits.ring_events = 4 + below(60);
    limits.waiting_bytes = 200 + below(3'000);
    limits.page_rows = 1 + below(20);
    limits.open_pages = 1 + below(3);
    limits.linger = Millis{below(100)};
    limits.retry = Millis{10};
    const std::vector<std::string> types{"item.started", "item.delta", "session.ended"}, agents{"Alice", "Bob"};
    std::vector<std::pair<std::string, std::string>> log;
    const auto happen = [&] {
      log.emplace_back(types[below(3)], agents[below(2)]);
      relay.happen(log.back().first, log.back().second, "s", std::string(below(200), 'x'));
    };
    for (unsigned i = below(60); i > 0; --i) happen();
    Feed feed{loop, relay, limits};
    std::vector<EventSubscription> wishes{
        {}, {.types = {"item"}}, {.agents = {"Bob"}}, {.types = {"session.ended"}, .agents = {"Alice"}}};
    std::vector<std::pair<std::unique_ptr<Wanderer>, EventSubscription>> wanderers;
    for (int step = 0; step < 250; ++step) {
      switch (below(12)) {
        case 0:
          if (wanderers.size() < 12) {
            auto wish = wishes[below(4)];
            if (below(2) == 0) wish.after = below(static_cast<unsigned>(relay.newest()) + 1);
            wanderers.emplace_back(std::make_unique<Wanderer>(feed, wish), wish);
          }
          break;
        case 1:
          for (unsigned i = below(30); i > 0; --i) happen();
          break;
        case 2:
          if (!wanderers.empty()) wanderers[below(static_cast<unsigned>(wanderers.size()))].first->come_back();
          break;
        case 3:
          if (below(8) == 0) relay.keep_from(1 + below(static_cast<unsigned>(relay.newest()) + 1));
          break;
        case 4:
        case 5: happen(); break;
        default:
          if (!wanderers.empty()) wanderers[below(static_cast<unsigned>(wanderers.size()))].first->drain();
          loop.advance(Millis{below(15)});
      }
    }
    for (int quiet = 0; quiet < 60;) {  // everybody catches up
      loop.advance(Millis{5});
      bool any = false;
      for (auto& [wanderer, wish] : wanderers) any = wanderer->drain() || any;
      quiet = any ? 0 : quiet + 1;
    }
    for (const auto& [wanderer, wish] : wanderers) {
      const records::EventFilter filter{wish.types, wish.agents, {}};
      wanderer->check(relay, [&](std::uint64_t number) {
        return filter.takes(log[number - 1].first, log[number - 1].second, "s");
      });
    }
    wanderers.clear();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace relay::api
