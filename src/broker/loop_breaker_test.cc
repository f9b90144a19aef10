#include "broker/loop_breaker.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/format.h"
#include "broker/testing/benign_conversations.h"
#include "broker/testing/looping_conversations.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using testing::HonestTalk;
using testing::Style;

constexpr std::size_t kTenExchanges = 20;  // messages

/// Agents, and a clock that moves when one speaks.
class Room {
 public:
  LoopBreaker loops;
  Timestamp now{SteadyTime{1h}, 1'700'000'000'000};
  std::string rejection;

  void wait(Millis time) {
    now.steady += time;
    now.wall += time.count();
  }
  bool says(const LoopBreaker::Sent& sent, std::string_view id = {}) {
    auto sentence = loops.check(sent, now);
    if (!sentence) loops.taken(sent, id, now);
    rejection = sentence.value_or("");
    return !sentence;
  }
  bool says(std::string_view from, std::string_view to, std::string_view body, Millis after = 0ms) {
    wait(after);
    return says({.from = from, .to = to, .body = body});
  }
};

using Say = std::function<std::string(std::size_t)>;

/// How many messages pass before the first is refused; `most` if none is.
std::size_t passed(const Say& say, std::size_t most, const std::function<Millis()>& pace,
                   const std::vector<std::string>& ring = {"Alice", "Bob"}) {
  Room room;
  for (std::size_t i = 0; i < most; ++i) {
    if (!room.says(ring[i % ring.size()], ring[(i + 1) % ring.size()], say(i), pace())) return i;
  }
  return most;
}
std::size_t passed(const Say& say, std::size_t most, Millis pace) {
  return passed(say, most, [=] { return pace; });
}
Say lines_of(const testing::Talk& talk) {
  return [&talk](std::size_t i) { return std::string{talk[i % talk.size()]}; };
}
std::string error_text(std::size_t i) {
  return format(
      "Error: tool call failed (request {:08x}, attempt {}): connection refused by 127.0.0.1:{} at 12:{:02}:07",
      i * 2'654'435'761U, i, 40'000 + i, i % 60);
}

TEST(LoopBreaker, StopOneWhoWritesTheSameToItself) {
  const auto same = [](std::size_t) { return std::string{"continue with the next step"}; };
  EXPECT_LT(passed(same, 100, [] { return 2s; }, {"Alice"}), 20U);
  const auto notes = [](std::size_t i) { return format("remember: module{0} depends on parser{0} and writer{0}", i); };
  EXPECT_EQ(passed(notes, 100, [] { return 10s; }, {"Alice"}), 100U) << "notes that say something new are fine";
}

TEST(LoopBreaker, StopTwoWhoAnswerEachOtherWithinTenExchanges) {
  struct Manner {
    std::string_view name;
    Say say;
    Millis pace;
  };
  const auto echo = [](std::size_t i) { return std::string{i % 2 == 0 ? "ping" : "pong"}; };
  const auto count = [](std::size_t i) { return format("{} {}", i % 2 == 0 ? "ping" : "pong", i / 2); };
  const std::vector<Manner> manners = {
      {"the same two texts, at once", echo, 50ms},
      {"the same two texts, a minute each", echo, 60s},
      {"ping n, pong n, at once", count, 50ms},
      {"a sign only", [](std::size_t) { return std::string{"\u23f8\ufe0f"}; }, 5s},
      {"an error text with ids, at once", error_text, 500ms},
      {"two who thank each other", lines_of(testing::kThanks), 6s},
      {"two who stand by", lines_of(testing::kStandingBy), 6s},
      {"two who will not reply", lines_of(testing::kNoReply), 6s},
      {"two who thank in German", lines_of(testing::kDanke), 6s},
      {"two who offer help", lines_of(testing::kOffers), 6s},
      {"two who confirm", lines_of(testing::kConfirm), 6s},
      {"two who thank each other, slowly", lines_of(testing::kThanks), 45s},
  };
  for (const Manner& manner : manners) {
    const std::size_t messages = passed(manner.say, 100, manner.pace);
    std::printf("  %-36.*s stopped after %zu messages\n", static_cast<int>(manner.name.size()), manner.name.data(),
                messages);
    EXPECT_LE(messages, kTenExchanges) << manner.name;
    EXPECT_GE(messages, 6U) << manner.name;
  }
}

TEST(LoopBreaker, StopARingWithinTenRounds) {
  const std::vector<std::string> ring = {"Alice", "Bob", "Carol"};
  const auto pace = [] { return 4'000ms; };
  EXPECT_LE(passed([](std::size_t) { return std::string{"Passing this on to you."}; }, 100, pace, ring), 30U);
  EXPECT_LE(passed(lines_of(testing::kStandingBy), 30, pace, ring), 29U);
}

/// Everybody writes to itself first, `notes` times, and then to the next: Ben, Ben, Ann, Ann, Ben.
std::vector<std::string> ring_with_notes(const std::vector<std::string>& names, int notes) {
  std::vector<std::string> ring;
  for (const auto& name : names) ring.insert(ring.end(), static_cast<std::size_t>(notes) + 1, name);
  return ring;
}

TEST(LoopBreaker, StopRingThroughMessagesToSelf) {
  const auto same = [](std::size_t) { return std::string{"Passing this on to you."}; };
  for (const auto& names : {std::vector<std::string>{"Ben", "Ann"}, {"Ben", "Ann", "Carol"}}) {
    for (const int notes : {1, 2, 5}) {
      for (const Millis pace : {350ms, 5'000ms}) {
        const auto ring = ring_with_notes(names, notes);
        const std::size_t messages = passed(same, 1'000, [=] { return pace; }, ring);
        std::printf("  a ring of %zu, %d notes each, stopped after %zu messages\n", names.size(), notes, messages);
        EXPECT_LE(messages, LoopBreaker::kMaxRepeats * ring.size()) << names.size() << " names, notes " << notes;
        EXPECT_GE(messages, 6U);
      }
    }
  }
}

TEST(LoopBreaker, StopARingWhereOnlyOneWritesToItself) {
  const auto same = [](std::size_t) { return std::string{"Passing this on to you."}; };
  EXPECT_LE(passed(same, 1'000, [] { return 350ms; }, {"Ben", "Ben", "Ann"}), LoopBreaker::kMaxRepeats * 3);
}

TEST(LoopBreaker, LetThoseReportWhoRemindThemselves) {
  Room room;
  HonestTalk talk{Style::Review, 11};
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(room.says("Alice", "Alice", "continue with the next step", 5s)) << i;
    ASSERT_TRUE(room.says("Alice", "Bob", talk.next(), 5s)) << i;
    ASSERT_TRUE(room.says("Bob", "Alice", "ok", 5s)) << i;
  }
}

TEST(LoopBreaker, CountABurstOfOneWhoRemindsItselfOnce) {
  Room room;
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(room.says("Boss", "Boss", "next round", 1ms));
    for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(room.says("Boss", "Worker", "please take the next item", 1ms));
    for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(room.says("Worker", "Boss", "done", 1ms));
  }
}

TEST(LoopBreaker, StopTwoWhoAnswerEachOtherInAChannel) {
  Room room;
  std::size_t said = 0;
  while (said < 100 && room.says(said % 2 == 0 ? "Alice" : "Bob", "#dev", testing::kThanks[said % 30], 6s)) ++said;
  EXPECT_LE(said, kTenExchanges);
}

TEST(LoopBreaker, LetAnHonestConversationOf500TurnsPass) {
  for (const Style style : testing::kStyles) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      HonestTalk talk{style, seed};
      SeededRandom random{seed};
      const auto as_models_speak = [&] { return Millis{5'000 + static_cast<Millis::rep>(random.below(25'000))}; };
      EXPECT_EQ(passed([&](std::size_t) { return talk.next(); }, 500, as_models_speak), 500U)
          << "style " << static_cast<int>(style) << ", seed " << seed;
      if (style == Style::Progress) continue;  // at machine pace, counting alone is a loop
      HonestTalk quick{style, seed};
      EXPECT_EQ(passed([&](std::size_t) { return quick.next(); }, 500, 20ms), 500U)
          << "style " << static_cast<int>(style) << ", seed " << seed << ", at once";
    }
  }
}

TEST(LoopBreaker, StopAfterTwoThousandTurnsThoseWhoOnlyCount) {
  const std::size_t messages = passed([](std::size_t i) { return format("Acknowledged {}.", i); }, 5'000, 10s);
  EXPECT_GE(messages, LoopBreaker::kMaxHops);
  EXPECT_LE(messages, LoopBreaker::kMaxHops + 10);
}

TEST(LoopBreaker, LetAPollerAsk) {
  for (const Millis every : {5min, 2min, 1min}) {
    Room room;
    for (int i = 0; i < 500; ++i) {
      ASSERT_TRUE(room.says("Alice", "Bob", "status?", every - 8s)) << i;
      ASSERT_TRUE(room.says("Bob", "Alice", "still running", 8s)) << i;
    }
  }
}

TEST(LoopBreaker, LetATurnBeAsGoodAsTheBestThatIsSaidInIt) {
  Room room;
  HonestTalk talk{Style::Review, 7};
  for (int i = 0; i < 250; ++i) {
    for (const auto& [from, to] : {std::pair{"Alice", "Bob"}, std::pair{"Bob", "Alice"}}) {
      ASSERT_TRUE(room.says(from, to, "On it.", 5s)) << i;
      ASSERT_TRUE(room.says(from, to, talk.next(), 5s)) << i;
    }
  }
}

TEST(LoopBreaker, CountABurstOnce) {
  Room room;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(room.says("Boss", "Worker", "please take the next item", 1ms));
    for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(room.says("Worker", "Boss", "done", 1ms));
  }
  for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(room.says("Boss", format("Worker{}", i), "take the next item", 1ms));
  for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(room.says(format("Worker{}", i), "Boss", "done", 1ms));
}

TEST(LoopBreaker, DoNotCountSilentMessages) {
  Room room;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(room.says({.from = "Alice", .to = "Bob", .body = "working", .wakes = false}));
    ASSERT_TRUE(room.says({.from = "Bob", .to = "Alice", .body = "working", .wakes = false}));
  }
}

/// Says the same until it is refused; Bob is the one refused.
void trip(Room& room) {
  for (int i = 0; i < 20; ++i) {
    room.says("Alice", "Bob", "hello", 1s);
    if (!room.says("Bob", "Alice", "hello", 1s)) return;
  }
  FAIL() << "never refused";
}

TEST(LoopBreaker, SayWhoAndWhyAndHowToGoOn) {
  Room room;
  trip(room);
  EXPECT_EQ(
      room.rejection,
      "Bob and Alice seem to be in a loop: the last 4 turns from Bob to Alice said nothing new, nor did what they "
      "answer. What Bob says to Alice is refused for 60 s. Do not answer unless there is something new to say; a "
      "person lifts this with: agent-relay loops reset Bob Alice");
  const auto trip = room.loops.take_trip();
  ASSERT_TRUE(trip);
  EXPECT_EQ(trip->from, "Bob");
  EXPECT_EQ(trip->to, "Alice");
  EXPECT_EQ(trip->at, room.now.wall);
  EXPECT_EQ(trip->until, room.now.wall + 60'000);
  EXPECT_EQ(trip->trips, 1U);
  EXPECT_FALSE(room.loops.take_trip());
  EXPECT_FALSE(room.says("Bob", "Alice", "Here are the figures for quarter three, finally complete.", 1s));
  ASSERT_EQ(room.loops.open(room.now).size(), 1U);
  EXPECT_EQ(room.loops.open(room.now)[0].refused, 2U);
}

TEST(LoopBreaker, RefuseOnlyTheirPair) {
  Room room;
  trip(room);
  EXPECT_TRUE(room.says("Bob", "Carol", "Could you compile that with the sanitizers enabled?"));
  EXPECT_TRUE(room.says({.from = "Bob", .to = "Alice", .body = "idle", .wakes = false}));
  EXPECT_TRUE(room.says({.from = "", .to = "Alice", .body = "hello"}));
}

TEST(LoopBreaker, LetOneThroughAndWaitTwiceAsLong) {
  Room room;
  trip(room);
  room.loops.take_trip();
  Millis pause = LoopBreaker::kFirstPause;
  for (std::uint64_t trips = 2; trips < 10; ++trips) {
    EXPECT_FALSE(room.says("Bob", "Alice", "hello", pause - 1s));
    EXPECT_TRUE(room.says("Bob", "Alice", "hello", 1s));
    const auto again = room.loops.take_trip();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->trips, trips);
    pause = std::min(2 * pause, LoopBreaker::kMaxPause);
    EXPECT_EQ(again->until - again->at, pause.count());
  }
  EXPECT_EQ(pause, LoopBreaker::kMaxPause);
}

TEST(LoopBreaker, CloseWhenThereIsSomethingNew) {
  Room room;
  trip(room);
  EXPECT_TRUE(room.says("Bob", "Alice", "The parser test fails since the header became optional.", 60s));
  EXPECT_TRUE(room.loops.open(room.now).empty());
  EXPECT_TRUE(room.says("Bob", "Alice", "Shall I look into that?"));
  trip(room);  // and remember: the next time is longer
  EXPECT_EQ(room.loops.open(room.now).at(0).until - room.now.wall, 120'000);
}

TEST(LoopBreaker, StartAgainWhenReset) {
  Room room;
  trip(room);
  EXPECT_EQ(room.loops.reset("Bob", "Carol"), 0U);
  EXPECT_EQ(room.loops.reset("Bob", ""), 1U);
  EXPECT_TRUE(room.loops.open(room.now).empty());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(room.says("Bob", "Alice", "hello", 1s));
    EXPECT_TRUE(room.says("Alice", "Bob", "hello", 1s));
  }
  trip(room);
  room.loops.forget("Alice");
  EXPECT_TRUE(room.loops.open(room.now).empty());
}

TEST(LoopBreaker, StartAgainWhenUserSends) {
  Room room;
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(room.says({.from = "", .to = "Alice", .body = "again"}));
    for (int k = 0; k < 3; ++k) {
      ASSERT_TRUE(room.says("Alice", "Bob", "hello", 5s));
      ASSERT_TRUE(room.says("Bob", "Alice", "hello", 5s));
    }
  }
}

TEST(LoopBreaker, FollowDeclaredThreadThroughOtherMessages) {
  Room room;
  HonestTalk talk{Style::Design, 3};
  std::size_t loops = 0;
  bool refused = false;
  while (!refused && loops < 100) {
    for (const auto& [from, to] : {std::pair{"Alice", "Bob"}, std::pair{"Bob", "Alice"}}) {
      EXPECT_TRUE(room.says({.from = from, .to = to, .body = talk.next(), .thread = "work"}) || refused);
      refused = refused || !room.says({.from = from, .to = to, .body = "Acknowledged.", .thread = "acks"});
      ++loops;
      room.wait(5s);
    }
  }
  EXPECT_LE(loops, kTenExchanges);
}

TEST(LoopBreaker, AreNotFooledByANewThreadForEveryMessage) {
  Room room;
  std::size_t said = 0;
  while (said < 100 && room.says({.from = said % 2 == 0 ? "Alice" : "Bob",
                                  .to = said % 2 == 0 ? "Bob" : "Alice",
                                  .body = "Acknowledged.",
                                  .thread = format("t-{}", said)})) {
    ++said;
    room.wait(5s);
  }
  EXPECT_LE(said, kTenExchanges);
}

TEST(LoopBreaker, FollowDeclaredReplies) {
  Room room;
  std::size_t said = 0;
  const auto id = [](std::size_t n) { return format("m-{}", n); };
  // Each answer goes by way of somebody else's name: only `reply_to` tells that it is one chain.
  while (said < 100 && room.says({.from = said % 2 == 0 ? "Alice" : "Bob",
                                  .to = said % 2 == 0 ? "Desk" : "Office",
                                  .body = "Acknowledged.",
                                  .reply_to = said == 0 ? std::string{} : id(said - 1)},
                                 id(said))) {
    ++said;
    room.wait(5s);
  }
  EXPECT_LE(said, kTenExchanges);
}

TEST(LoopBreaker, StaySmallAfterAMillionMessagesAmongTenThousandNames) {
  Room room;
  SeededRandom random{1};
  std::vector<std::string> names;
  for (int i = 0; i < 10'000; ++i) names.push_back(format("agent-{}", i));
  for (int i = 0; i < 1'000'000; ++i) {
    const std::string& from = names[random.below(names.size())];
    const std::string& to = names[random.below(names.size())];
    room.says({.from = from, .to = to, .body = "some words to be read"}, from);
    room.wait(1ms);
  }
  EXPECT_LT(room.loops.bytes(), 9U << 20U);
  trip(room);
}

}  // namespace
}  // namespace relay::broker
