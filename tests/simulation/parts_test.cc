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
  std::string received;
  std::string closed;
  std::size_t progress = 0;
  void on_bytes(std::string_view bytes) override { received += bytes; }
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
  FaultPlan faults;
  SimNetwork network{loop, random, faults, trace};
  DeathFlag dead = std::make_shared<bool>(false);
  Ear client, server;
  std::unique_ptr<net::Listener> listener;

  void connect() {
    network.set_server_process(dead);
    listener = network.listen_as_server("/s", [this](auto stream) { server.take(std::move(stream)); });
    network.connect("/s", [this](auto stream) { client.take(std::move(*stream)); });
    loop.advance(milliseconds{100});
    ASSERT_TRUE(client.stream && server.stream);
  }
};

TEST_F(SimNetworkTest, BytesArriveInOrderHoweverTheyAreCut) {
  faults.min_socket_bytes = 16;
  connect();
  std::string all;
  for (int i = 0; i < 200; ++i) {
    const auto text = format("{} ", i);
    client.stream->write(text);
    all += text;
  }
  loop.advance(milliseconds{60'000});
  EXPECT_EQ(server.received, all);
  EXPECT_GT(client.progress, 1U);
}

TEST_F(SimNetworkTest, ConnectToAnUnusedPathFails) {
  std::string reason;
  network.connect("/nowhere", [&](auto stream) { reason = stream.error().message(); });
  loop.advance(milliseconds{100});
  EXPECT_NE(reason.find("no one is listening"), std::string::npos);
}

TEST_F(SimNetworkTest, ASlowReaderIsFeltByTheSender) {
  faults.min_socket_bytes = 100;
  connect();
  server.stream->pause_reading();
  client.stream->write(std::string(10'000, 'x'));
  loop.advance(milliseconds{1'000});
  EXPECT_GT(client.stream->bytes_waiting(), 9'000U);
  EXPECT_TRUE(server.received.empty());
  server.stream->resume_reading();
  loop.advance(milliseconds{60'000});
  EXPECT_EQ(server.received.size(), 10'000U);
  EXPECT_EQ(client.stream->bytes_waiting(), 0U);
}

TEST_F(SimNetworkTest, CloseWithDrainSendsPendingBytes) {
  connect();
  client.stream->write("final bytes");
  client.stream->close(net::Drain::Yes);
  client.stream.reset();
  loop.advance(milliseconds{1'000});
  EXPECT_EQ(server.received, "final bytes");
  EXPECT_FALSE(server.closed.empty());
}

TEST_F(SimNetworkTest, CutIsReportedAtBothEnds) {
  connect();
  network.cut_one();
  loop.advance(milliseconds{1'000});
  EXPECT_FALSE(client.closed.empty());
  EXPECT_FALSE(server.closed.empty());
}

TEST_F(SimNetworkTest, FramesOfADeadDaemonAreLost) {
  connect();
  *dead = true;
  server.stream->write("from beyond");
  network.server_died();
  loop.advance(milliseconds{1'000});
  EXPECT_EQ(client.received, "");
  EXPECT_FALSE(client.closed.empty());
}

struct HistoryCheckerTest : ::testing::Test {
  VirtualLoop loop;
  Trace trace{Trace::Mode::Off, loop};
  HistoryChecker checker{trace, loop};

  std::uint64_t send(const std::string& id) {
    const auto number = checker.on_send({"Alice", "Bob", ""});
    checker.on_id(number, id);
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
    checker.on_durable({records::AddMessage{message}, records::AddDelivery{delivery}});
  }
  void receive(std::uint64_t number, std::int64_t key, std::uint64_t seq, int process = 1) {
    checker.on_received("Bob", process, Memory::Positions, {records::delivery_id(Key{key + 1}), "", "Alice", seq},
                        payload(number));
  }
};

TEST_F(HistoryCheckerTest, AckBeforeStoreIsAViolation) {
  send("a-1");
  checker.on_ack("a-1");
  EXPECT_TRUE(checker.violation());
}

TEST_F(HistoryCheckerTest, SameMessageTwiceIsAViolationAlsoAfterARestart) {
  const auto number = send("a-1");
  store(number, 1);
  receive(number, 1, 1);
  EXPECT_FALSE(checker.violation());
  receive(number, 1, 1, 2);
  EXPECT_TRUE(checker.violation());
}

TEST_F(HistoryCheckerTest, ReorderedStreamIsAViolation) {
  const auto first = send("a-1"), second = send("a-2");
  store(first, 1);
  store(second, 3);
  receive(second, 3, 2);
  receive(first, 1, 1);
  EXPECT_TRUE(checker.violation());
}

TEST_F(HistoryCheckerTest, MissingAcknowledgedMessageIsAViolation) {
  const auto number = send("a-1");
  store(number, 1);
  checker.on_ack("a-1");
  store::MemoryStore empty;
  checker.check_end(empty);
  EXPECT_TRUE(checker.violation());
}

TEST_F(HistoryCheckerTest, LostDeliveryIsAViolation) {
  const auto number = send("a-1");
  store(number, 1);
  store::MemoryStore empty;
  checker.check_store(empty);
  EXPECT_TRUE(checker.violation());
}

TEST_F(HistoryCheckerTest, DeliveredWithoutInjectionIsAViolation) {
  checker.add_client("Bob", HistoryChecker::Name::Claimed,
                     {.modes = protocol::DeliveryModes::all(), .queue = true, .window = 8});
  const auto number = send("a-1");
  store(number, 1);
  receive(number, 1, 1);
  EXPECT_FALSE(checker.violation());
  checker.on_durable({records::ChangeDelivery{
      .key = Key{2}, .state = records::DeliveryState::Delivered, .proof = records::Proof::Submitted}});
  EXPECT_TRUE(checker.violation());
}

TEST_F(HistoryCheckerTest, InjectingTwiceIsAViolation) {
  store(send("a-1"), 1);
  const client::DeliveryRef ref{.id = records::delivery_id(Key{2})};
  checker.on_injected("Bob", ref);
  EXPECT_FALSE(checker.violation());
  checker.on_injected("Bob", ref);
  EXPECT_TRUE(checker.violation());
}

TEST_F(HistoryCheckerTest, ReceiptBeforeItsEntryIsStoredIsAViolation) {
  store(send("a-1"), 1);
  checker.on_daemon_frame(broker::ConnectionId{1},
                          format(R"({{"v":1,"type":"RECEIPT","id":"r","ts":1,"payload":{{"status":"delivered",)"
                                 R"("deliveryId":"{}","proof":"seen"}}}})",
                                 records::delivery_id(Key{2})));
  EXPECT_TRUE(checker.violation());
}

struct LivenessCheckerTest : ::testing::Test {
  DeliveryModel model;
  LivenessChecker liveness{model};
  broker::RosterEntry bob;

  LivenessCheckerTest() {
    bob.agent.name = AgentName{"Bob"};
    bob.connected = true;
    liveness.add_client("Bob", {.modes = {}, .queue = false, .window = 8});
    liveness.daemon_started({});
    records::Session session;
    session.id = SessionId{"s"};
    session.agent = AgentName{"Bob"};
    liveness.on_session_opened(session);
    liveness.set_session("Bob", "s");
    liveness.on_welcome("s", broker::ConnectionId{1});
    records::Delivery delivery;
    delivery.key = delivery.rank = Key{2};
    delivery.to = AgentName{"Bob"};
    delivery.seq = Seq{1};
    delivery.expires_at = 1'000'000;
    (void)model.add({delivery}, 1, 0);
  }
  void on_session_report(const std::string& state) {
    bob.capabilities = format(R"({{"report":"{}"}})", liveness.on_session_report("Bob", {.state = state}));
  }
  [[nodiscard]] bool finds_stuck() const { return liveness.find_stuck({bob}, {.wall = 1}).has_value(); }
};

TEST_F(LivenessCheckerTest, FindsADeliveryThatCouldBeSent) {
  EXPECT_TRUE(finds_stuck());
  liveness.sent(Key{2}, broker::ConnectionId{1}, Seq{1});
  EXPECT_FALSE(finds_stuck());
  liveness.on_welcome("s", broker::ConnectionId{2});
  EXPECT_TRUE(finds_stuck()) << "on the new connection it was not sent";
}

TEST_F(LivenessCheckerTest, AcceptsAClosedLane) {
  bob.connected = false;
  EXPECT_FALSE(finds_stuck());
  bob.connected = true;
  on_session_report("active");
  EXPECT_FALSE(finds_stuck());
  on_session_report("idle");
  EXPECT_TRUE(finds_stuck());
  bob.agent.paused = true;
  liveness.on_agent_stored(bob.agent);
  EXPECT_FALSE(finds_stuck());
}

TEST(DeliveryModel, AcceptsOnlyLegalSteps) {
  using enum records::DeliveryState;
  EXPECT_TRUE(is_legal(Queued, Accepted) && is_legal(Accepted, Delivered) && is_legal(Deferred, Accepted));
  EXPECT_TRUE(is_legal(Dead, Cancelled) && is_legal(Expired, Delivered) && is_legal(Cancelled, Delivered));
  EXPECT_FALSE(is_legal(Delivered, Failed) || is_legal(Cancelled, Failed) || is_legal(Dead, Delivered));
}

TEST(DeliveryModel, DeadNeedsEightFailuresOrADay) {
  DeliveryModel model;
  records::Delivery delivery;
  delivery.key = delivery.rank = Key{2};
  EXPECT_FALSE(model.add({delivery}, 1, 0));
  EXPECT_TRUE(
      model.change({.key = Key{2}, .state = records::DeliveryState::Dead, .at = 5, .attempts = 1}, {.wall = 5}));
}

TEST(Simulation, SameSeedReplaysExactly) {
  for (const std::uint64_t seed : {3U, 17U, 91U, 204U}) {
    const auto first = Simulation{{.seed = seed, .trace = Trace::Mode::Hash}}.run();
    const auto second = Simulation{{.seed = seed, .trace = Trace::Mode::Hash}}.run();
    EXPECT_EQ(first.trace_hash, second.trace_hash) << "seed " << seed;
    EXPECT_EQ(first.steps, second.steps) << "seed " << seed;
  }
}

TEST(Simulation, DifferentSeedsDiffer) {
  const auto first = Simulation{{.seed = 1, .trace = Trace::Mode::Hash}}.run();
  const auto second = Simulation{{.seed = 2, .trace = Trace::Mode::Hash}}.run();
  EXPECT_NE(first.trace_hash, second.trace_hash);
}

}  // namespace
}  // namespace relay::simulation
