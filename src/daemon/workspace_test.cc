#include "daemon/workspace.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "client/testing/virtual_loop.h"
#include "daemon/host_manager.h"
#include "daemon/testing/fake_stream.h"
#include "daemon/testing/scripted_queue.h"

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

  void say(FakePeer& peer, std::string_view type, std::string_view id, std::string_view payload,
           std::string_view more = "") {
    std::string wire;
    protocol::append_frame(wire, protocol::HeaderStyle::Four,
                           format(R"({{"v":1,"type":"{}","id":"{}","ts":1,{}"payload":{}}})", type, id, more, payload));
    peer.say(wire);
  }

  std::shared_ptr<FakePeer> join(std::string_view name) {
    auto peer = connect();
    say(*peer, "HELLO", "h", format(R"({{"agent":"{}","capabilities":{{"ack":true,"send_ack":true}}}})", name));
    commit();
    loop.run_now();
    EXPECT_TRUE(heard(*peer, R"("type":"WELCOME")")) << peer->heard;
    return peer;
  }

  void send(FakePeer& from, std::string_view to, std::string_view id, std::string_view body = "text") {
    say(from, "SEND", id, format(R"({{"kind":"message","body":"{}"}})", body), format(R"("to":"{}",)", to));
  }

  /// The store is asked at the end of a turn.
  void commit() {
    loop.run_now();
    store.commit_all();
  }

  static bool heard(const FakePeer& peer, std::string_view part) { return peer.heard.find(part) != std::string::npos; }
};

TEST_F(WorkspaceTest, SaysNothingOfAMessageBeforeItsCommit) {
  const auto alice = join("Alice");
  const auto bob = join("Bob");
  send(*alice, "Bob", "m-1");
  EXPECT_FALSE(heard(*alice, R"("ack_id":"m-1")"));
  EXPECT_FALSE(heard(*bob, R"("type":"DELIVER")"));
  commit();
  EXPECT_TRUE(heard(*alice, R"("ack_id":"m-1")")) << alice->heard;
  EXPECT_TRUE(heard(*bob, R"("type":"DELIVER")")) << bob->heard;
}

TEST_F(WorkspaceTest, SavesWhatCameInOneTurnTogether) {
  const auto alice = join("Alice");
  const auto bob = join("Bob");
  const auto before = store.asked.size();
  send(*alice, "Bob", "m-1");
  send(*bob, "Alice", "m-1");
  send(*alice, "Bob", "m-2");
  loop.run_now();
  EXPECT_EQ(store.asked.size(), before + 1);
  commit();
  EXPECT_TRUE(heard(*alice, R"("ack_id":"m-2")")) << alice->heard;
  EXPECT_TRUE(heard(*bob, R"("ack_id":"m-1")")) << bob->heard;
}

TEST_F(WorkspaceTest, TellsTheSenderWhenItsCommitFailed) {
  const auto alice = join("Alice");
  const auto bob = join("Bob");
  send(*alice, "Bob", "m-1");
  loop.run_now();
  const auto ticket = store.asked.back();
  store.listener->on_commit_failed(ticket, ticket, fail("the disk is full").error());
  EXPECT_TRUE(heard(*alice, "STORAGE")) << alice->heard;
  EXPECT_FALSE(heard(*bob, R"("type":"DELIVER")"));
}

TEST_F(WorkspaceTest, StopsReadingWhileTooMuchWaitsForCommitAndGoesOnAfterwards) {
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
  alice->say(wire);  // all in one read: parsing must stop, not only reading
  EXPECT_TRUE(alice->paused);
  EXPECT_FALSE(heard(*alice, R"("ack_id":"m-0")"));
  for (int i = 0; i < 8; ++i) {
    commit();
    loop.run_now();
  }
  EXPECT_FALSE(alice->paused);
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(heard(*alice, format(R"("ack_id":"m-{}")", i))) << i;
}

TEST_F(WorkspaceTest, ClosesAConnectionThatNeverReadsWithAFatalWord) {
  const auto alice = join("Alice");
  const auto bob = join("Bob");
  bob->waiting = kMaxOutputBytes;
  send(*alice, "Bob", "m-1");
  commit();
  loop.run_now();
  EXPECT_EQ(bob->closed, net::Drain::Yes);
  EXPECT_TRUE(heard(*bob, R"("fatal":true)")) << bob->heard;
  EXPECT_EQ(workspace->connection_count(), 1U);
}

TEST_F(WorkspaceTest, ReportsABurstOfComingsAndGoingsOnce) {
  const auto alice = join("Alice");
  const auto bob = join("Bob");
  EXPECT_EQ(roster_reports, 0);
  loop.advance(kRosterBurstMs);
  EXPECT_EQ(roster_reports, 1);
  EXPECT_EQ(roster_size, 2U);
  loop.advance(Millis{1'000});
  EXPECT_EQ(roster_reports, 1);
  bob->leave();
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
  bob->leave();
  loop.advance(kRosterBurstMs);
  EXPECT_EQ(roster_reports, 2);
}

TEST_F(WorkspaceTest, ForgetsAMinuteAfterTheStartAndThenEveryHour) {
  options.retention.max_age_ms = 1;
  workspace.reset();
  open();
  loop.advance(kFirstRetention);
  EXPECT_EQ(store.rounds_of_retention, 1);
  loop.advance(kRetentionEvery);
  EXPECT_EQ(store.rounds_of_retention, 2);
}

TEST_F(WorkspaceTest, SleepsWhenNobodyIsConnected) {
  loop.advance(Millis{10'000});
  const auto waiting = loop.waiting();
  EXPECT_LE(waiting, 1U);
}

TEST_F(WorkspaceTest, GivesEachQuestionItsOwnAnswer) {
  const auto alice = join("Alice");
  const auto bob = join("Bob");
  say(*alice, "MESSAGES_QUERY", "alice-asks", R"({"limit":1})");
  say(*bob, "MESSAGES_QUERY", "bob-asks", R"({"limit":1})");
  ASSERT_EQ(store.queries.size(), 2U);
  store.listener->on_query_result(store.queries[1], store::QueryResult{std::vector<records::MessageRow>{}});
  EXPECT_TRUE(heard(*bob, R"("id":"bob-asks")")) << bob->heard;
  EXPECT_FALSE(heard(*alice, R"("id":"alice-asks")"));
  store.listener->on_query_result(store.queries[0], fail("the disk is slow"));
  EXPECT_TRUE(heard(*alice, "the disk is slow")) << alice->heard;
}

TEST_F(WorkspaceTest, EndsOnceEveryCommitWasAnswered) {
  const auto alice = join("Alice");
  const auto bob = join("Bob");
  send(*alice, "Bob", "m-1");
  bool done = false;
  workspace->shut_down([&] { done = true; });
  loop.run_now();
  EXPECT_FALSE(done);
  commit();
  commit();  // what the goodbyes left to store
  loop.run_now();
  EXPECT_TRUE(done);
  EXPECT_TRUE(heard(*alice, R"("ack_id":"m-1")")) << alice->heard;
  EXPECT_TRUE(heard(*bob, R"("type":"BYE")"));
}

TEST_F(WorkspaceTest, DoesNotWaitForEverForADiskThatNeverAnswers) {
  const auto alice = join("Alice");
  const auto bob = join("Bob");
  send(*alice, "Bob", "m-1");
  bool done = false;
  workspace->shut_down([&] { done = true; });
  loop.advance(kMaxShutdownWait);
  EXPECT_TRUE(done);
}

TEST_F(WorkspaceTest, MayDieWithConnectionsOpen) {
  const auto alice = join("Alice");
  workspace.reset();
  loop.advance(Millis{60'000});
}

/// Keeps what it was asked until the test answers.
struct FakeHosts final : HostManager {
  void start(broker::HostSpec order, Started told) override {
    orders.push_back(std::move(order));
    started = std::move(told);
  }
  void release(const std::string&, const broker::Release&, Done told) override { done = std::move(told); }
  void type(const std::string&, std::string, Done told) override { done = std::move(told); }
  void list(Listed told) override { listed = std::move(told); }
  void answer(broker::AnswerPrompt, Done told) override { done = std::move(told); }
  void show_dialog(const std::string&, const std::string&) override {}
  std::vector<protocol::EndedSession> ended_sessions() override { return ended; }
  void forget_ended_session(const SessionId& session) override { forgotten.push_back(session.value()); }

  std::vector<protocol::EndedSession> ended;
  std::vector<std::string> forgotten;
  std::vector<broker::HostSpec> orders;
  Started started;
  Done done;
  Listed listed;
};

TEST_F(WorkspaceTest, SaysThatNoAgentCanBeRunWhereThereAreNoHosts) {
  const auto alice = join("Alice");
  const std::string question = R"({"name":"Worker","cli":"claude","data":"y"})";
  for (const auto* type : {"SPAWN", "RELEASE", "SEND_INPUT", "LIST_WORKERS"}) {
    say(*alice, type, "q", question);
    EXPECT_TRUE(heard(*alice, format(R"("type":"{}_RESULT")", type))) << alice->heard;
  }
  EXPECT_TRUE(heard(*alice, "cannot be run here"));
}

TEST_F(WorkspaceTest, TellsOfAStartedAgentOnceItsTaskIsCommitted) {
  FakeHosts running;
  hosts = &running;
  open();
  const auto alice = join("Alice");
  say(*alice, "SPAWN", "s", R"({"name":"Worker","cli":"claude","task":"go"})");
  ASSERT_EQ(running.orders.size(), 1U);
  EXPECT_EQ(running.orders[0].name, "Worker");
  running.started(4711);
  EXPECT_FALSE(heard(*alice, "SPAWN_RESULT"));
  commit();
  EXPECT_TRUE(heard(*alice, R"("pid":4711)")) << alice->heard;
  EXPECT_TRUE(heard(*alice, R"("taskId":)"));
  say(*alice, "RELEASE", "r", R"({"name":"Worker"})");
  running.done({});
  EXPECT_TRUE(heard(*alice, "RELEASE_RESULT"));
  say(*alice, "LIST_WORKERS", "w", "{}");
  running.listed(std::vector<broker::Worker>{});
  EXPECT_TRUE(heard(*alice, R"("workers":[])"));
}

TEST_F(WorkspaceTest, RecordOfAnEndedSessionIsRemovedOnceItIsRead) {
  FakeHosts running;
  running.ended = {{.agent = "Bob", .session = "s-1", .bye = {}, .events = {}}};
  hosts = &running;
  open();
  EXPECT_EQ(running.forgotten, std::vector<std::string>{"s-1"}) << "that session is not open any more";
}

TEST_F(WorkspaceTest, DoesNotHearWhatHostsSayAfterItsEnd) {
  FakeHosts running;
  hosts = &running;
  open();
  const auto alice = join("Alice");
  say(*alice, "SPAWN", "s", R"({"name":"Worker","cli":"claude","task":"go"})");
  workspace.reset();
  running.started(4711);
}

}  // namespace
}  // namespace relay::daemon
