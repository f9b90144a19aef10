// The simulation's own parts, and that a seed replays exactly.
#include <gtest/gtest.h>

#include "base/format.h"
#include "records/short_id.h"
#include "tests/simulation/sim_network.h"
#include "tests/simulation/simulation.h"

namespace relay::simulation {
namespace {

struct Ear final : net::StreamListener {
  std::unique_ptr<net::Stream> stream;
  std::string heard;
  std::string closed;
  std::size_t progress = 0;
  void on_bytes(std::string_view bytes) override { heard += bytes; }
  void on_written(std::size_t) override { ++progress; }
  void on_closed(const std::string& reason) override { closed = reason; }
  void take(std::unique_ptr<net::Stream> made) {
    stream = std::move(made);
    stream->start(*this);
  }
};

struct SimNetworkTest : ::testing::Test {
  SeededRandom random{5};
  VirtualLoop loop;
  Trace trace{Trace::Mode::Off, loop};
  FaultPlan weather;
  SimNetwork network{loop, random, weather, trace};
  DeathFlag dead = std::make_shared<bool>(false);
  Ear client, server;
  std::unique_ptr<net::Listener> door;

  void connect() {
    network.next_server_life(dead);
    door = *network.listen("/s", [this](auto stream) { server.take(std::move(stream)); });
    network.connect("/s", [this](auto stream) { client.take(std::move(*stream)); });
    loop.advance(milliseconds{100});
    ASSERT_TRUE(client.stream && server.stream);
  }
};

TEST_F(SimNetworkTest, BytesArriveInOrderHoweverTheyAreCut) {
  weather.smallest_socket = 16;
  connect();
  std::string all;
  for (int i = 0; i < 200; ++i) {
    const auto text = format("{} ", i);
    client.stream->write(text);
    all += text;
  }
  loop.advance(milliseconds{60'000});
  EXPECT_EQ(server.heard, all);
  EXPECT_GT(client.progress, 1U);
}

TEST_F(SimNetworkTest, NobodyListensAtAnEmptyPath) {
  std::string reason;
  network.connect("/nowhere", [&](auto stream) { reason = stream.error().message(); });
  loop.advance(milliseconds{100});
  EXPECT_NE(reason.find("no one is listening"), std::string::npos);
}

TEST_F(SimNetworkTest, ASlowReaderIsFeltByTheSender) {
  weather.smallest_socket = 100;
  connect();
  server.stream->pause_reading();
  client.stream->write(std::string(10'000, 'x'));
  loop.advance(milliseconds{1'000});
  EXPECT_GT(client.stream->bytes_waiting(), 9'000U);
  EXPECT_TRUE(server.heard.empty());
  server.stream->resume_reading();
  loop.advance(milliseconds{60'000});
  EXPECT_EQ(server.heard.size(), 10'000U);
  EXPECT_EQ(client.stream->bytes_waiting(), 0U);
}

TEST_F(SimNetworkTest, ClosingInGoodOrderSendsWhatWaits) {
  connect();
  client.stream->write("last words");
  client.stream->close(net::Drain::Yes);
  client.stream.reset();
  loop.advance(milliseconds{1'000});
  EXPECT_EQ(server.heard, "last words");
  EXPECT_FALSE(server.closed.empty());
}

TEST_F(SimNetworkTest, ACutIsHeardAtBothEnds) {
  connect();
  network.cut_one();
  loop.advance(milliseconds{1'000});
  EXPECT_FALSE(client.closed.empty());
  EXPECT_FALSE(server.closed.empty());
}

TEST_F(SimNetworkTest, WhatADeadDaemonSaysReachesNobody) {
  connect();
  *dead = true;
  server.stream->write("from beyond");
  network.server_died();
  loop.advance(milliseconds{1'000});
  EXPECT_EQ(client.heard, "");
  EXPECT_FALSE(client.closed.empty());
}

struct LedgerTest : ::testing::Test {
  VirtualLoop loop;
  Trace trace{Trace::Mode::Off, loop};
  HistoryChecker ledger{trace, loop};

  std::uint64_t said(const std::string& id) {
    const auto number = ledger.say({"Alice", "Bob", ""});
    ledger.has_id(number, id);
    return number;
  }
  static std::string payload(std::uint64_t number) {
    return format(R"({{"body":"{}"}})", HistoryChecker::body_of(number));
  }
  void store(std::uint64_t number, std::int64_t key) {
    records::Message message;
    message.key = Key{key};
    message.from = AgentName{"Alice"};
    message.payload = payload(number);
    records::Delivery delivery;
    delivery.key = Key{key + 1};
    delivery.message = Key{key};
    delivery.to = AgentName{"Bob"};
    ledger.on_durable({records::AddMessage{message}, records::AddDelivery{delivery}});
  }
  void hand_up(std::uint64_t number, std::int64_t key, std::uint64_t seq, int life = 1) {
    ledger.handed_up("Bob", life, Keeps::Positions, {records::delivery_id(Key{key + 1}), "", "Alice", seq},
                     payload(number));
  }
};

TEST_F(LedgerTest, AnAcknowledgementBeforeTheStoreIsAViolation) {
  said("a-1");
  ledger.acknowledged("a-1");
  EXPECT_TRUE(ledger.violation());
}

TEST_F(LedgerTest, TheSameMessageTwiceIsAViolationAlsoAfterARestart) {
  const auto number = said("a-1");
  store(number, 1);
  hand_up(number, 1, 1);
  EXPECT_FALSE(ledger.violation());
  hand_up(number, 1, 1, 2);
  EXPECT_TRUE(ledger.violation());
}

TEST_F(LedgerTest, AStreamThatGoesBackIsAViolation) {
  const auto first = said("a-1"), second = said("a-2");
  store(first, 1);
  store(second, 3);
  hand_up(second, 3, 2);
  hand_up(first, 1, 1);
  EXPECT_TRUE(ledger.violation());
}

TEST_F(LedgerTest, AnAcknowledgedMessageThatNeverArrivesIsAViolation) {
  const auto number = said("a-1");
  store(number, 1);
  ledger.acknowledged("a-1");
  store::MemoryStore empty;
  ledger.check_end(empty);
  EXPECT_TRUE(ledger.violation());
}

TEST_F(LedgerTest, AStoreThatForgotIsAViolation) {
  const auto number = said("a-1");
  store(number, 1);
  store::MemoryStore empty;
  ledger.check_store(empty);
  EXPECT_TRUE(ledger.violation());
}

TEST_F(LedgerTest, DeliveredToAnAgentThatNeverSawItIsALie) {
  ledger.knows("Bob", HistoryChecker::Name::Claimed,
               {.modes = protocol::DeliveryModes::all(), .queue = true, .window = 8});
  const auto number = said("a-1");
  store(number, 1);
  hand_up(number, 1, 1);
  EXPECT_FALSE(ledger.violation());
  ledger.on_durable({records::ChangeDelivery{
      .key = Key{2}, .state = records::DeliveryState::Delivered, .proof = records::Proof::Submitted}});
  EXPECT_TRUE(ledger.violation());
}

TEST_F(LedgerTest, TwoSurfacesAreAViolation) {
  store(said("a-1"), 1);
  const client::DeliveryRef place{.id = records::delivery_id(Key{2})};
  ledger.surfaced("Bob", place);
  EXPECT_FALSE(ledger.violation());
  ledger.surfaced("Bob", place);
  EXPECT_TRUE(ledger.violation());
}

TEST_F(LedgerTest, AReceiptBeforeItsLineIsStoredIsAViolation) {
  store(said("a-1"), 1);
  ledger.daemon_says(broker::ConnectionId{1},
                     format(R"({{"v":1,"type":"RECEIPT","id":"r","ts":1,"payload":{{"status":"delivered",)"
                            R"("deliveryId":"{}","proof":"seen"}}}})",
                            records::delivery_id(Key{2})));
  EXPECT_TRUE(ledger.violation());
}

struct AlarmTest : ::testing::Test {
  DeliveryModel book;
  LivenessChecker alarm{book};
  broker::RosterEntry bob;

  AlarmTest() {
    bob.agent.name = AgentName{"Bob"};
    bob.connected = true;
    alarm.knows("Bob", {.modes = {}, .queue = false, .window = 8});
    alarm.daemon_started({});
    records::Session session;
    session.id = SessionId{"s"};
    session.agent = AgentName{"Bob"};
    alarm.session_opens(session);
    alarm.session_of("Bob", "s");
    alarm.welcomed("s", broker::ConnectionId{1});
    records::Delivery delivery;
    delivery.key = delivery.rank = Key{2};
    delivery.to = AgentName{"Bob"};
    delivery.seq = Seq{1};
    delivery.expires_at = 1'000'000;
    (void)book.add({delivery}, 1, 0);
  }
  void tells(const std::string& state) {
    bob.capabilities = format(R"({{"told":"{}"}})", alarm.tells("Bob", {.state = state}));
  }
  [[nodiscard]] bool rings() const { return alarm.look({bob}, {.wall = 1}).has_value(); }
};

TEST_F(AlarmTest, RingsForWhatSitsEligibleAndUntouched) {
  EXPECT_TRUE(rings());
  alarm.sent(Key{2}, broker::ConnectionId{1}, Seq{1});
  EXPECT_FALSE(rings());
  alarm.welcomed("s", broker::ConnectionId{2});
  EXPECT_TRUE(rings()) << "on the new connection it was not sent";
}

TEST_F(AlarmTest, KnowsWhyALaneIsClosed) {
  bob.connected = false;
  EXPECT_FALSE(rings());
  bob.connected = true;
  tells("active");
  EXPECT_FALSE(rings());
  tells("idle");
  EXPECT_TRUE(rings());
  bob.agent.paused = true;
  alarm.agent_saved(bob.agent);
  EXPECT_FALSE(rings());
}

TEST(Book, KnowsTheLegalSteps) {
  using enum records::DeliveryState;
  EXPECT_TRUE(is_legal(Queued, Accepted) && is_legal(Accepted, Delivered) && is_legal(Deferred, Accepted));
  EXPECT_TRUE(is_legal(Dead, Cancelled) && is_legal(Expired, Delivered) && is_legal(Cancelled, Delivered));
  EXPECT_FALSE(is_legal(Delivered, Failed) || is_legal(Cancelled, Failed) || is_legal(Dead, Delivered));
}

TEST(Book, DeadNeedsEightFailuresOrADay) {
  DeliveryModel book;
  records::Delivery delivery;
  delivery.key = delivery.rank = Key{2};
  EXPECT_FALSE(book.add({delivery}, 1, 0));
  EXPECT_TRUE(book.change({.key = Key{2}, .state = records::DeliveryState::Dead, .at = 5, .attempts = 1}, {.wall = 5}));
}

TEST(World, ASeedReplaysExactly) {
  for (const std::uint64_t seed : {3U, 17U, 91U, 204U}) {
    const auto first = Simulation{{.seed = seed, .trace = Trace::Mode::Hash}}.run();
    const auto second = Simulation{{.seed = seed, .trace = Trace::Mode::Hash}}.run();
    EXPECT_EQ(first.trace_hash, second.trace_hash) << "seed " << seed;
    EXPECT_EQ(first.steps, second.steps) << "seed " << seed;
  }
}

TEST(World, DifferentSeedsAreDifferentWorlds) {
  const auto first = Simulation{{.seed = 1, .trace = Trace::Mode::Hash}}.run();
  const auto second = Simulation{{.seed = 2, .trace = Trace::Mode::Hash}}.run();
  EXPECT_NE(first.trace_hash, second.trace_hash);
}

}  // namespace
}  // namespace relay::simulation
