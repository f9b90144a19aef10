#include "broker/loop_breaker.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/format.h"
#include "broker/testing/benign_conversations.h"
#include "broker/testing/looping_conversations.h"

namespace relay::broker {
namespace {

using namespace testing;
using namespace std::chrono_literals;

constexpr std::size_t kTenExchanges = 20;  // messages

/// Agents that send messages through a loop breaker, and a manual clock.
class AgentGroup {
 public:
  LoopBreaker loops;
  Timestamp now{SteadyTime{1h}, 1'700'000'000'000};
  std::string rejection;

  void advance(Millis time) {
    now.steady += time;
    now.wall += time.count();
  }
  /// False if the message is refused; `rejection` is the reason.
  bool send(const LoopBreaker::Sent& sent, std::string_view id = {}) {
    auto reason = loops.check(sent, now);
    if (!reason) loops.on_stored(sent, id, now);
    rejection = reason.value_or("");
    return !reason;
  }
  bool send(std::string_view from, std::string_view to, std::string_view body, Millis after = 0ms) {
    advance(after);
    return send({.from = from, .to = to, .body = body});
  }
};

/// The body of message number n.
using NextBody = std::function<std::string(std::size_t)>;

/// How many messages pass before one is refused; `limit` if none is.
std::size_t messages_passed(const NextBody& next_body, std::size_t limit, const std::function<Millis()>& pace,
                            const std::vector<std::string>& ring = {"Alice", "Bob"}) {
  AgentGroup agents;
  for (std::size_t i = 0; i < limit; ++i) {
    if (!agents.send(ring[i % ring.size()], ring[(i + 1) % ring.size()], next_body(i), pace())) return i;
  }
  return limit;
}
std::size_t messages_passed(const NextBody& next_body, std::size_t limit, Millis pace) {
  return messages_passed(next_body, limit, [=] { return pace; });
}
NextBody turns_of(const Transcript& transcript) {
  return [&transcript](std::size_t i) { return std::string{transcript[i % transcript.size()]}; };
}
std::string error_text(std::size_t i) {
  return format(
      "Error: tool call failed (request {:08x}, attempt {}): connection refused by 127.0.0.1:{} at 12:{:02}:07",
      i * 2'654'435'761U, i, 40'000 + i, i % 60);
}

TEST(LoopBreaker, StopsRepeatedMessageToSelf) {
  const auto same = [](std::size_t) { return std::string{"continue with the next step"}; };
  EXPECT_LT(messages_passed(same, 100, [] { return 2s; }, {"Alice"}), 20U);
  const auto notes = [](std::size_t i) { return format("remember: module{0} depends on parser{0} and writer{0}", i); };
  EXPECT_EQ(messages_passed(notes, 100, [] { return 10s; }, {"Alice"}), 100U) << "notes with new content pass";
}

TEST(LoopBreaker, StopsLoopOfTwoWithinTenExchanges) {
  struct Loop {
    std::string_view name;
    NextBody next_body;
    Millis pace;
  };
  const auto echo = [](std::size_t i) { return std::string{i % 2 == 0 ? "ping" : "pong"}; };
  const auto count = [](std::size_t i) { return format("{} {}", i % 2 == 0 ? "ping" : "pong", i / 2); };
  const std::vector<Loop> loops = {
      {"the same two texts, at machine pace", echo, 50ms},
      {"the same two texts, once a minute", echo, 60s},
      {"ping n, pong n, at machine pace", count, 50ms},
      {"a symbol only", [](std::size_t) { return std::string{"\u23f8\ufe0f"}; }, 5s},
      {"an error text with ids, fast", error_text, 500ms},
      {"thanks", turns_of(kThanks), 6s},
      {"standing by", turns_of(kStandingBy), 6s},
      {"announcing no reply", turns_of(kNoReply), 6s},
      {"thanks in German", turns_of(kThanksInGerman), 6s},
      {"offers of help", turns_of(kOffers), 6s},
      {"confirmations", turns_of(kConfirmations), 6s},
      {"thanks, slowly", turns_of(kThanks), 45s},
  };
  for (const Loop& loop : loops) {
    const std::size_t messages = messages_passed(loop.next_body, 100, loop.pace);
    std::printf("  %-36.*s stopped after %zu messages\n", static_cast<int>(loop.name.size()), loop.name.data(),
                messages);
    EXPECT_LE(messages, kTenExchanges) << loop.name;
    EXPECT_GE(messages, 6U) << loop.name;
  }
}

TEST(LoopBreaker, StopsRingWithinTenRounds) {
  const std::vector<std::string> ring = {"Alice", "Bob", "Carol"};
  const auto pace = [] { return 4'000ms; };
  EXPECT_LE(messages_passed([](std::size_t) { return std::string{"Passing this on to you."}; }, 100, pace, ring), 30U);
  EXPECT_LE(messages_passed(turns_of(kStandingBy), 30, pace, ring), 29U);
}

/// Each agent sends `notes` messages to itself, then one to the next: Ben, Ben, Ann, Ann, Ben.
std::vector<std::string> ring_with_notes(const std::vector<std::string>& names, int notes) {
  std::vector<std::string> ring;
  for (const auto& name : names) ring.insert(ring.end(), static_cast<std::size_t>(notes) + 1, name);
  return ring;
}

TEST(LoopBreaker, StopsRingThroughMessagesToSelf) {
  const auto same = [](std::size_t) { return std::string{"Passing this on to you."}; };
  for (const auto& names : {Strings{"Ben", "Ann"}, {"Ben", "Ann", "Carol"}}) {
    for (const int notes : {1, 2, 5}) {
      for (const Millis pace : {350ms, 5'000ms}) {
        const auto ring = ring_with_notes(names, notes);
        const std::size_t messages = messages_passed(same, 1'000, [=] { return pace; }, ring);
        std::printf("  a ring of %zu, %d notes each, stopped after %zu messages\n", names.size(), notes, messages);
        EXPECT_LE(messages, LoopBreaker::kMaxRepeats * ring.size()) << names.size() << " names, notes " << notes;
        EXPECT_GE(messages, 6U);
      }
    }
  }
}

TEST(LoopBreaker, StopsRingWhereOnlyOneSendsToItself) {
  const auto same = [](std::size_t) { return std::string{"Passing this on to you."}; };
  EXPECT_LE(messages_passed(same, 1'000, [] { return 350ms; }, {"Ben", "Ben", "Ann"}), LoopBreaker::kMaxRepeats * 3);
}

TEST(LoopBreaker, PassesReportsOfAgentThatRemindsItself) {
  AgentGroup agents;
  BenignConversation conversation{Style::Review, 11};
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(agents.send("Alice", "Alice", "continue with the next step", 5s)) << i;
    ASSERT_TRUE(agents.send("Alice", "Bob", conversation.next(), 5s)) << i;
    ASSERT_TRUE(agents.send("Bob", "Alice", "ok", 5s)) << i;
  }
}

TEST(LoopBreaker, CountsBurstOfAgentThatRemindsItselfOnce) {
  AgentGroup agents;
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(agents.send("Boss", "Boss", "next round", 1ms));
    for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(agents.send("Boss", "Worker", "please take the next item", 1ms));
    for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(agents.send("Worker", "Boss", "done", 1ms));
  }
}

TEST(LoopBreaker, StopsLoopOfTwoInChannel) {
  AgentGroup agents;
  std::size_t sent = 0;
  while (sent < 100 && agents.send(sent % 2 == 0 ? "Alice" : "Bob", "#dev", kThanks[sent % 30], 6s)) ++sent;
  EXPECT_LE(sent, kTenExchanges);
}

TEST(LoopBreaker, PassesBenignConversationOf500Turns) {
  for (const Style style : kStyles) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      BenignConversation conversation{style, seed};
      SeededRandom random{seed};
      const auto model_pace = [&] { return Millis{5'000 + static_cast<Millis::rep>(random.below(25'000))}; };
      EXPECT_EQ(messages_passed([&](std::size_t) { return conversation.next(); }, 500, model_pace), 500U)
          << "style " << static_cast<int>(style) << ", seed " << seed;
      if (style == Style::Progress) continue;  // at machine pace, mere counting is a loop
      BenignConversation fast{style, seed};
      EXPECT_EQ(messages_passed([&](std::size_t) { return fast.next(); }, 500, 20ms), 500U)
          << "style " << static_cast<int>(style) << ", seed " << seed << ", at machine pace";
    }
  }
}

TEST(LoopBreaker, StopsCountingAfterTwoThousandTurns) {
  const std::size_t messages = messages_passed([](std::size_t i) { return format("Acknowledged {}.", i); }, 5'000, 10s);
  EXPECT_GE(messages, LoopBreaker::kMaxHops);
  EXPECT_LE(messages, LoopBreaker::kMaxHops + 10);
}

TEST(LoopBreaker, PassesPolling) {
  for (const Millis every : {5min, 2min, 1min}) {
    AgentGroup agents;
    for (int i = 0; i < 500; ++i) {
      ASSERT_TRUE(agents.send("Alice", "Bob", "status?", every - 8s)) << i;
      ASSERT_TRUE(agents.send("Bob", "Alice", "still running", 8s)) << i;
    }
  }
}

TEST(LoopBreaker, TurnCountsAsItsMostNovelMessage) {
  AgentGroup agents;
  BenignConversation conversation{Style::Review, 7};
  for (int i = 0; i < 250; ++i) {
    for (const auto& [from, to] : {std::pair{"Alice", "Bob"}, std::pair{"Bob", "Alice"}}) {
      ASSERT_TRUE(agents.send(from, to, "On it.", 5s)) << i;
      ASSERT_TRUE(agents.send(from, to, conversation.next(), 5s)) << i;
    }
  }
}

TEST(LoopBreaker, CountsBurstOnce) {
  AgentGroup agents;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(agents.send("Boss", "Worker", "please take the next item", 1ms));
    for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(agents.send("Worker", "Boss", "done", 1ms));
  }
  for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(agents.send("Boss", format("Worker{}", i), "take the next item", 1ms));
  for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(agents.send(format("Worker{}", i), "Boss", "done", 1ms));
}

TEST(LoopBreaker, DoesNotCountSilentMessages) {
  AgentGroup agents;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(agents.send({.from = "Alice", .to = "Bob", .body = "working", .counts = false}));
    ASSERT_TRUE(agents.send({.from = "Bob", .to = "Alice", .body = "working", .counts = false}));
  }
}

/// Repeats a message until the one from Bob is refused.
void trip(AgentGroup& agents) {
  for (int i = 0; i < 20; ++i) {
    agents.send("Alice", "Bob", "hello", 1s);
    if (!agents.send("Bob", "Alice", "hello", 1s)) return;
  }
  FAIL() << "never refused";
}

TEST(LoopBreaker, RejectionNamesAgentsReasonAndReset) {
  AgentGroup agents;
  trip(agents);
  EXPECT_EQ(
      agents.rejection,
      "Bob and Alice seem to be in a loop: the last 4 turns from Bob to Alice had nothing new, nor had the turns they "
      "answer. Messages from Bob to Alice are refused for 60 s. Do not answer without new content; the user can end "
      "this with: agent-relay loops reset Bob Alice");
  const auto trip = agents.loops.take_trip();
  ASSERT_TRUE(trip);
  EXPECT_EQ(trip->from, "Bob");
  EXPECT_EQ(trip->to, "Alice");
  EXPECT_EQ(trip->at, agents.now.wall);
  EXPECT_EQ(trip->until, agents.now.wall + 60'000);
  EXPECT_EQ(trip->trips, 1U);
  EXPECT_FALSE(agents.loops.take_trip());
  EXPECT_FALSE(agents.send("Bob", "Alice", "Here are the figures for quarter three, finally complete.", 1s));
  ASSERT_EQ(agents.loops.open(agents.now).size(), 1U);
  EXPECT_EQ(agents.loops.open(agents.now)[0].refused, 2U);
}

TEST(LoopBreaker, RefusesOnlyLoopingPair) {
  AgentGroup agents;
  trip(agents);
  EXPECT_TRUE(agents.send("Bob", "Carol", "Could you compile that with the sanitizers enabled?"));
  EXPECT_TRUE(agents.send({.from = "Bob", .to = "Alice", .body = "idle", .counts = false}));
  EXPECT_TRUE(agents.send({.from = "", .to = "Alice", .body = "hello"}));
}

TEST(LoopBreaker, PassesOneMessageThenDoublesPause) {
  AgentGroup agents;
  trip(agents);
  agents.loops.take_trip();
  Millis pause = LoopBreaker::kFirstPause;
  for (std::uint64_t trips = 2; trips < 10; ++trips) {
    EXPECT_FALSE(agents.send("Bob", "Alice", "hello", pause - 1s));
    EXPECT_TRUE(agents.send("Bob", "Alice", "hello", 1s));
    const auto again = agents.loops.take_trip();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->trips, trips);
    pause = std::min(2 * pause, LoopBreaker::kMaxPause);
    EXPECT_EQ(again->until - again->at, pause.count());
  }
  EXPECT_EQ(pause, LoopBreaker::kMaxPause);
}

TEST(LoopBreaker, ClosesAfterNovelMessage) {
  AgentGroup agents;
  trip(agents);
  EXPECT_TRUE(agents.send("Bob", "Alice", "The parser test fails since the header became optional.", 60s));
  EXPECT_TRUE(agents.loops.open(agents.now).empty());
  EXPECT_TRUE(agents.send("Bob", "Alice", "Shall I look into that?"));
  trip(agents);  // the breaker remembers: the next pause is longer
  EXPECT_EQ(agents.loops.open(agents.now).at(0).until - agents.now.wall, 120'000);
}

TEST(LoopBreaker, StartsAgainAfterReset) {
  AgentGroup agents;
  trip(agents);
  EXPECT_EQ(agents.loops.reset("Bob", "Carol"), 0U);
  EXPECT_EQ(agents.loops.reset("Bob", ""), 1U);
  EXPECT_TRUE(agents.loops.open(agents.now).empty());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(agents.send("Bob", "Alice", "hello", 1s));
    EXPECT_TRUE(agents.send("Alice", "Bob", "hello", 1s));
  }
  trip(agents);
  agents.loops.forget("Alice");
  EXPECT_TRUE(agents.loops.open(agents.now).empty());
}

TEST(LoopBreaker, StartsAgainWhenUserSends) {
  AgentGroup agents;
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(agents.send({.from = "", .to = "Alice", .body = "again"}));
    for (int k = 0; k < 3; ++k) {
      ASSERT_TRUE(agents.send("Alice", "Bob", "hello", 5s));
      ASSERT_TRUE(agents.send("Bob", "Alice", "hello", 5s));
    }
  }
}

TEST(LoopBreaker, FollowsDeclaredThreadThroughOtherMessages) {
  AgentGroup agents;
  BenignConversation conversation{Style::Design, 3};
  std::size_t loops = 0;
  bool refused = false;
  while (!refused && loops < 100) {
    for (const auto& [from, to] : {std::pair{"Alice", "Bob"}, std::pair{"Bob", "Alice"}}) {
      EXPECT_TRUE(agents.send({.from = from, .to = to, .body = conversation.next(), .thread = "work"}) || refused);
      refused = refused || !agents.send({.from = from, .to = to, .body = "Acknowledged.", .thread = "acks"});
      ++loops;
      agents.advance(5s);
    }
  }
  EXPECT_LE(loops, kTenExchanges);
}

TEST(LoopBreaker, StopsLoopWithNewThreadPerMessage) {
  AgentGroup agents;
  std::size_t sent = 0;
  while (sent < 100 && agents.send({.from = sent % 2 == 0 ? "Alice" : "Bob",
                                    .to = sent % 2 == 0 ? "Bob" : "Alice",
                                    .body = "Acknowledged.",
                                    .thread = format("t-{}", sent)})) {
    ++sent;
    agents.advance(5s);
  }
  EXPECT_LE(sent, kTenExchanges);
}

TEST(LoopBreaker, FollowsDeclaredReplies) {
  AgentGroup agents;
  std::size_t sent = 0;
  const auto id = [](std::size_t n) { return format("m-{}", n); };
  // Each reply goes to another name: only `reply_to` shows that they form one chain.
  while (sent < 100 && agents.send({.from = sent % 2 == 0 ? "Alice" : "Bob",
                                    .to = sent % 2 == 0 ? "Carol" : "Dave",
                                    .body = "Acknowledged.",
                                    .reply_to = sent == 0 ? std::string{} : id(sent - 1)},
                                   id(sent))) {
    ++sent;
    agents.advance(5s);
  }
  EXPECT_LE(sent, kTenExchanges);
}

TEST(LoopBreaker, StaysSmallAfterAMillionMessagesAmongTenThousandNames) {
  AgentGroup agents;
  SeededRandom random{1};
  std::vector<std::string> names;
  for (int i = 0; i < 10'000; ++i) names.push_back(format("agent-{}", i));
  for (int i = 0; i < 1'000'000; ++i) {
    const std::string& from = names[random.below(names.size())];
    const std::string& to = names[random.below(names.size())];
    agents.send({.from = from, .to = to, .body = "some words to be read"}, from);
    agents.advance(1ms);
  }
  EXPECT_LT(agents.loops.bytes(), 9U << 20U);
  trip(agents);
}

}  // namespace
}  // namespace relay::broker
