#include "daemon/workspace.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "client/testing/virtual_loop.h"
#include "daemon/host_manager.h"
#include "daemon/testing/fake_stream.h"
#include "daemon/testing/scripted_queue.h"
#include "store/memory/store.h"

namespace relay::daemon {
namespace {

using client::testing::VirtualLoop;
using testing::FakePeer;
using testing::FakeStream;
using testing::ScriptedQueue;

struct WorkspaceTest : ::testing::Test {
  VirtualLoop loop;
  SeededRandom random{1};
  ScriptedQueue::Script store;
  int roster_reports = 0;
  std::size_t roster_size = 0;
  std::uint64_t roster_sent = 0;  // by its first agent
  WorkspaceOptions options;
  HostManager* hosts = nullptr;
  std::unique_ptr<Workspace> workspace;

  void SetUp() override { open(); }

  void open() {
    workspace = std::make_unique<Workspace>(
        options, loop, random,
        [this](store::StoreListener& listener) { return std::make_unique<ScriptedQueue>(store, listener); },
        records::WorkspaceState{},
        [this](const auto& roster, WallMs) {
          ++roster_reports;
          roster_size = roster.size();
          roster_sent = roster.empty() ? 0 : roster.front().sent;
        },
        EffectProbe{}, hosts);
  }

  std::shared_ptr<FakePeer> connect() {
    auto peer = std::make_shared<FakePeer>();
    workspace->accept(std::make_unique<FakeStream>(peer));
    return peer;
  }

  void send_frame(FakePeer& peer, std::string_view type, std::string_view id, std::string_view payload,
                  std::string_view more = "") {
    std::string wire;
    protocol::append_frame(wire, protocol::HeaderStyle::Four,
                           format(R"({{"v":1,"type":"{}","id":"{}","ts":1,{}"payload":{}}})", type, id, more, payload));
    peer.send(wire);
  }

  std::shared_ptr<FakePeer> join(std::string_view name) {
    auto peer = connect();
    send_frame(*peer, "HELLO", "h", format(R"({{"agent":"{}","capabilities":{{"ack":true,"send_ack":true}}}})", name));
    commit();
    loop.run_now();
    EXPECT_TRUE(received(*peer, R"("type":"WELCOME")")) << peer->received;
    return peer;
  }

  void send(FakePeer& from, std::string_view to, std::string_view id, std::string_view body = "text") {
    send_frame(from, "SEND", id, format(R"({{"kind":"message","body":"{}"}})", body), format(R"("to":"{}",)", to));
  }

  /// The workspace sends its requests to the store at the end of a turn.
  void commit() {
    loop.run_now();
    store.commit_all();
  }

  static bool received(const FakePeer& peer, std::string_view part) {
    return peer.received.find(part) != std::string::npos;
  }
};

TEST_F(WorkspaceTest, AcksAndDeliversAfterTheCommit) {
  const auto alice = join("Alice");
  const auto bob = join("Bob");
  send(*alice, "Bob", "m-1");
  EXPECT_FALSE(received(*alice, R"("ack_id":"m-1")"));
  EXPECT_FALSE(received(*bob, R"("type":"DELIVER")"));
  commit();
  EXPECT_TRUE(received(*alice, R"("ack_id":"m-1")")) << alice->received;
  EXPECT_TRUE(received(*bob, R"("type":"DELIVER")")) << bob->received;
}

TEST_F(WorkspaceTest, CommitsInputsOfOneTurnTogether) {
  const auto alice = join("Alice");
  const auto bob = join("Bob");
  const auto before = store.commits.size();
  send(*alice, "Bob", "m-1");
  send(*bob, "Alice", "m-1");
  send(*alice, "Bob", "m-2");
  loop.run_now();
  EXPECT_EQ(store.commits.size(), before + 1);
  commit();
  EXPECT_TRUE(received(*alice, R"("ack_id":"m-2")")) << alice->received;
  EXPECT_TRUE(received(*bob, R"("ack_id":"m-1")")) << bob->received;
}

TEST_F(WorkspaceTest, NacksTheSenderWhenTheCommitFails) {
  const auto alice = join("Alice");
  const auto bob = join("Bob");
  send(*alice, "Bob", "m-1");
  loop.run_now();
  const auto ticket = store.commits.back();
  store.listener->on_commit_failed(ticket, ticket, fail("the disk is full").error());
  EXPECT_TRUE(received(*alice, "STORAGE")) << alice->received;
  EXPECT_FALSE(received(*bob, R"("type":"DELIVER")"));
}

TEST_F(WorkspaceTest, PausesReadingWhileTooMuchIsUncommitted) {
  const auto alice = join("Alice");
  const auto bob = join("Bob");
  const std::string large(900'000, 'x');
  std::string wire;
  for (int i = 0; i < 8; ++i) {
    protocol::append_frame(
        wire, protocol::HeaderStyle::Four,
        format(R"({{"v":1,"type":"SEND","id":"m-{}","ts":1,"to":"Bob","payload":{{"kind":"message","body":"{}"}}}})", i,
               large));
  }
  alice->send(wire);  // all in one read: parsing must stop, not only reading
  EXPECT_TRUE(alice->paused);
  EXPECT_FALSE(received(*alice, R"("ack_id":"m-0")"));
  for (int i = 0; i < 8; ++i) {
    commit();
    loop.run_now();
  }
  EXPECT_FALSE(alice->paused);
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(received(*alice, format(R"("ack_id":"m-{}")", i))) << i;
}

TEST_F(WorkspaceTest, ClosesAConnectionThatNeverReadsWithAFatalError) {
  const auto alice = join("Alice");
  const auto bob = join("Bob");
  bob->waiting = kMaxOutputBytes;
  send(*alice, "Bob", "m-1");
  commit();
  loop.run_now();
  EXPECT_EQ(bob->closed, net::Drain::Yes);
  EXPECT_TRUE(received(*bob, R"("fatal":true)")) << bob->received;
  EXPECT_EQ(workspace->connection_count(), 1U);
}

TEST_F(WorkspaceTest, ReportsABurstOfJoinsAndLeavesOnce) {
  const auto alice = join("Alice");
  const auto bob = join("Bob");
  EXPECT_EQ(roster_reports, 0);
  loop.advance(kRosterBurstMs);
  EXPECT_EQ(roster_reports, 1);
  EXPECT_EQ(roster_size, 2U);
  loop.advance(Millis{1'000});
  EXPECT_EQ(roster_reports, 1);
  bob->disconnect();
  loop.advance(kRosterBurstMs);
  EXPECT_EQ(roster_reports, 2);
}

TEST_F(WorkspaceTest, ReportsTheCountsOfABurstOfMessagesOnce) {
  const auto alice = join("Alice");
  const auto bob = join("Bob");
  loop.advance(kRosterBurstMs);
  EXPECT_EQ(roster_reports, 1);
  for (int i = 0; i < 5; ++i) send(*alice, "Bob", format("m-{}", i));
  commit();
  loop.advance(kRosterBurstMs);
  EXPECT_EQ(roster_reports, 1);
  loop.advance(kCountsDelay);
  EXPECT_EQ(roster_reports, 2);
  EXPECT_EQ(roster_sent, 5U);
  loop.advance(2 * kCountsDelay);
  EXPECT_EQ(roster_reports, 2) << "nothing changed";
}

TEST_F(WorkspaceTest, ReportsAnAgentThatLeavesBeforeCountsAreDue) {
  const auto alice = join("Alice");
  const auto bob = join("Bob");
  loop.advance(kRosterBurstMs);
  send(*alice, "Bob", "m-1");
  commit();
  bob->disconnect();
  loop.advance(kRosterBurstMs);
  EXPECT_EQ(roster_reports, 2);
}

TEST_F(WorkspaceTest, PrunesAMinuteAfterTheStartAndThenEveryHour) {
  options.retention.max_age_ms = 1;
  workspace.reset();
  open();
  loop.advance(kFirstRetention);
  EXPECT_EQ(store.prunes, 1);
  loop.advance(kRetentionEvery);
  EXPECT_EQ(store.prunes, 2);
}

TEST_F(WorkspaceTest, SleepsWithoutConnections) {
  loop.advance(Millis{10'000});
  const auto waiting = loop.waiting();
  EXPECT_LE(waiting, 1U);
}

TEST_F(WorkspaceTest, RoutesEachQueryResultToItsRequest) {
  const auto alice = join("Alice");
  const auto bob = join("Bob");
  send_frame(*alice, "MESSAGES_QUERY", "alice-query", R"({"limit":1})");
  send_frame(*bob, "MESSAGES_QUERY", "bob-query", R"({"limit":1})");
  ASSERT_EQ(store.queries.size(), 2U);
  store.listener->on_query_result(store.queries[1].id, store::QueryResult{std::vector<records::MessageRow>{}});
  EXPECT_TRUE(received(*bob, R"("id":"bob-query")")) << bob->received;
  EXPECT_FALSE(received(*alice, R"("id":"alice-query")"));
  store.listener->on_query_result(store.queries[0].id, fail("the disk is slow"));
  EXPECT_TRUE(received(*alice, "the disk is slow")) << alice->received;
}

TEST_F(WorkspaceTest, PricesTheUsageInAnEventQueryResult) {
  options.price_of = [](const std::vector<records::UsageSum>& sums) {
    return std::optional{0.5 * static_cast<double>(sums.at(0).input)};
  };
  workspace.reset();
  open();
  const SessionId session{"s1"};
  store::MemoryStore rows{"memory"};
  ASSERT_TRUE(rows.begin());
  ASSERT_TRUE(rows.apply(records::PutUsage{{.session = session, .request = "r", .input = 7}}));
  ASSERT_TRUE(rows.apply(records::AddEvent{
      {.type = std::string{records::kSessionEnded}, .at = 1, .agent = {}, .session = session, .body = "{}"}}));
  ASSERT_TRUE(rows.commit());
  const auto alice = join("Alice");
  send_frame(*alice, "EVENTS_QUERY", "q", R"({"limit":1})");
  ASSERT_EQ(store.queries.size(), 1U);
  const auto& [id, query] = store.queries[0];
  store.listener->on_query_result(id, store::QueryResult{rows.events(std::get<records::EventQuery>(query)).value()});
  EXPECT_TRUE(received(*alice, R"("estimatedCost":3.5E0)")) << alice->received;
}

TEST_F(WorkspaceTest, EndsOnceEveryCommitIsReported) {
  const auto alice = join("Alice");
  const auto bob = join("Bob");
  send(*alice, "Bob", "m-1");
  bool done = false;
  workspace->shut_down([&] { done = true; });
  loop.run_now();
  EXPECT_FALSE(done);
  commit();
  commit();  // the ended sessions
  loop.run_now();
  EXPECT_TRUE(done);
  EXPECT_TRUE(received(*alice, R"("ack_id":"m-1")")) << alice->received;
  EXPECT_TRUE(received(*bob, R"("type":"BYE")"));
}

TEST_F(WorkspaceTest, EndsAfterATimeoutWhenTheStoreNeverReports) {
  const auto alice = join("Alice");
  const auto bob = join("Bob");
  send(*alice, "Bob", "m-1");
  bool done = false;
  workspace->shut_down([&] { done = true; });
  loop.advance(kMaxShutdownWait);
  EXPECT_TRUE(done);
}

TEST_F(WorkspaceTest, CanBeDestroyedWithConnectionsOpen) {
  const auto alice = join("Alice");
  workspace.reset();
  loop.advance(Millis{60'000});
}

/// Records its requests; the test reports their results.
struct FakeHosts final : HostManager {
  void start(broker::HostSpec spec, Started callback) override {
    specs.push_back(std::move(spec));
    started = std::move(callback);
  }
  void release(const std::string&, const broker::Release&, Done callback) override { done = std::move(callback); }
  void type(const std::string&, std::string, Done callback) override { done = std::move(callback); }
  void list(Listed callback) override { listed = std::move(callback); }
  void answer(broker::AnswerPrompt, Done callback) override { done = std::move(callback); }
  void show_dialog(const std::string&, const std::string&) override {}
  std::vector<protocol::EndedSession> ended_sessions() override { return ended; }
  void forget_ended_session(const SessionId& session) override { forgotten.push_back(session.value()); }

  std::vector<protocol::EndedSession> ended;
  std::vector<std::string> forgotten;
  std::vector<broker::HostSpec> specs;
  Started started;
  Done done;
  Listed listed;
};

TEST_F(WorkspaceTest, RefusesHostRequestsWithoutAHostManager) {
  const auto alice = join("Alice");
  const std::string request = R"({"name":"Worker","cli":"claude","data":"y"})";
  for (const auto* type : {"SPAWN", "RELEASE", "SEND_INPUT", "LIST_WORKERS"}) {
    send_frame(*alice, type, "q", request);
    EXPECT_TRUE(received(*alice, format(R"("type":"{}_RESULT")", type))) << alice->received;
  }
  EXPECT_TRUE(received(*alice, "cannot be run here"));
}

TEST_F(WorkspaceTest, ReportsAStartedAgentOnceItsTaskIsCommitted) {
  FakeHosts running;
  hosts = &running;
  open();
  const auto alice = join("Alice");
  send_frame(*alice, "SPAWN", "s", R"({"name":"Worker","cli":"claude","task":"go"})");
  ASSERT_EQ(running.specs.size(), 1U);
  EXPECT_EQ(running.specs[0].name, "Worker");
  running.started(4711);
  EXPECT_FALSE(received(*alice, "SPAWN_RESULT"));
  commit();
  EXPECT_TRUE(received(*alice, R"("pid":4711)")) << alice->received;
  EXPECT_TRUE(received(*alice, R"("taskId":)"));
  send_frame(*alice, "RELEASE", "r", R"({"name":"Worker"})");
  running.done({});
  EXPECT_TRUE(received(*alice, "RELEASE_RESULT"));
  send_frame(*alice, "LIST_WORKERS", "w", "{}");
  running.listed(std::vector<broker::Worker>{});
  EXPECT_TRUE(received(*alice, R"("workers":[])"));
}

TEST_F(WorkspaceTest, RemovesTheRecordOfAnEndedSessionOnceItIsRead) {
  FakeHosts running;
  running.ended = {{.agent = "Bob", .session = "s-1", .bye = {}, .events = {}}};
  hosts = &running;
  open();
  EXPECT_EQ(running.forgotten, std::vector<std::string>{"s-1"}) << "that session is not open any more";
}

TEST_F(WorkspaceTest, IgnoresHostResultsAfterItsDestruction) {
  FakeHosts running;
  hosts = &running;
  open();
  const auto alice = join("Alice");
  send_frame(*alice, "SPAWN", "s", R"({"name":"Worker","cli":"claude","task":"go"})");
  workspace.reset();
  running.started(4711);
}

}  // namespace
}  // namespace relay::daemon
