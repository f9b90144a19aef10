// Events about sessions: when they start, are lost and end, and records that hosts leave without a daemon.
#include <gtest/gtest.h>

#include "broker/testing/event_fixture.h"
#include "broker/testing/sessions.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using namespace testing;

struct SessionEvents : EventFixture {
  /// The id of the session that started last.
  std::string started_session() { return string_field(last("session.started"), "_sessionId"); }
  /// The record that the host of a session of Bob leaves when it ends without a daemon.
  static protocol::EndedSession record_of(const std::string& session, protocol::Bye bye) {
    return {.agent = "Bob", .session = session, .bye = std::move(bye), .events = {}};
  }
  void leave_record(const std::string& session, protocol::Bye bye) {
    fixture.ended_sessions().push_back(record_of(session, std::move(bye)));
  }
  Frame query_session(ConnectionId by, const std::string& session) {
    return fixture.response(by, "SESSION_QUERY", format(R"({{"id":"{}"}})", session));
  }
};

TEST_F(SessionEvents, AgentSpawnedHasSessionAndRole) {
  const auto alice = fixture.join_with_acks("Alice");
  fixture.request(alice, "SPAWN", R"({"name":"Worker","cli":"claude","task":"fix it","role":"reviewer"})", "s1");
  const auto start = fixture.host_requests<StartHost>().front();
  fixture.host_started(start.id, 1);
  EXPECT_TRUE(log("agent.spawned").empty());  // its session has not joined
  fixture.join_with_acks("Worker", R"("cli":"claude")");
  const auto spawned = last("agent.spawned");
  EXPECT_EQ(string_field(spawned, "sessionId"), string_field(last("session.started"), "sessionId"));
  EXPECT_NE(string_field(spawned, "sessionId"), "");
  EXPECT_EQ(string_field(spawned, "spawnedBy"), "Alice");
  EXPECT_EQ(string_field(spawned, "role"), "reviewer");
  EXPECT_EQ(string_field(spawned, "task"), "fix it");
  EXPECT_EQ(log("agent.spawned").size(), 1u);

  fixture.request(alice, "SPAWN", R"({"name":"Quick","cli":"claude"})", "s2");
  const auto quick = fixture.host_requests<StartHost>().front();
  fixture.join_with_acks("Quick", R"("cli":"claude")");  // before its host reported the start
  fixture.host_started(quick.id, 2);
  EXPECT_EQ(string_field(last("agent.spawned"), "sessionId"), string_field(last("session.started"), "sessionId"));
  EXPECT_EQ(log("agent.spawned").size(), 2u);
}

TEST_F(SessionEvents, SessionStartsAndEnds) {
  const auto bob = fixture.join_with_acks(
      "Bob", R"("cli":"claude","workingDirectory":"/p","version":"2.1.325","permissionMode":"plan")");
  const auto started = last("session.started");
  EXPECT_EQ(string_field(*object_member(started, "agent"), "name"), "Bob");
  EXPECT_EQ(string_field(*object_member(started, "agent"), "cli"), "claude");
  EXPECT_EQ(string_field(*object_member(started, "agent"), "version"), "2.1.325");
  EXPECT_EQ(string_field(*object_member(started, "config"), "workingDirectory"), "/p");
  EXPECT_EQ(string_field(*object_member(started, "config"), "permissionMode"), "plan");
  const auto session = string_field(started, "_sessionId");
  EXPECT_FALSE(session.empty());
  fixture.advance(2s);
  fixture.request(bob, "BYE");
  const auto ended = last("session.ended");
  EXPECT_EQ(string_field(ended, "_sessionId"), session);
  EXPECT_EQ(string_field(ended, "reason"), "completed");
  EXPECT_EQ(integer_field(*object_member(ended, "summary"), "duration"), 2'000);
}

TEST_F(SessionEvents, SessionWasLastSeenWhenItWasLostOrEnded) {
  const auto bob = fixture.join_with_acks("Bob"), user = fixture.join_with_acks("Ada");
  const auto session = string_field(log("session.started").front(), "_sessionId");
  const auto last_seen = [&] { return integer_field(query_session(user, session), "lastSeen"); };
  fixture.advance(2s);
  EXPECT_EQ(last_seen(), fixture.now().wall) << "it is connected";
  fixture.disconnect(bob);
  const auto lost = fixture.now().wall;
  fixture.advance(2s);
  EXPECT_EQ(last_seen(), lost);
  advance_with_pongs(user, 80s);
  EXPECT_EQ(string_field(last("session.ended"), "reason"), "crashed");
  EXPECT_EQ(last_seen(), lost) << "it ended later, after the grace period";
}

TEST_F(SessionEvents, SessionWithoutByeEndsWhenNextOneStarts) {
  fixture.disconnect(fixture.join_with_acks("Bob"));
  EXPECT_EQ(string_field(last("agent.status"), "state"), "offline");
  EXPECT_TRUE(log("session.ended").empty()) << "it may resume";
  fixture.join_with_acks("Bob");
  EXPECT_EQ(string_field(last("session.ended"), "reason"), "crashed");
  EXPECT_EQ(log("session.started").size(), 2u);
}

TEST_F(SessionEvents, LostSessionEndsAsCrashedAfterGracePeriod) {
  fixture.disconnect(fixture.join_with_acks("Bob"));
  const auto session = started_session();
  fixture.advance(59s);
  EXPECT_TRUE(log("session.ended").empty());
  fixture.advance(2s);
  const auto ended = last("session.ended");
  EXPECT_EQ(string_field(ended, "reason"), "crashed");
  EXPECT_EQ(string_field(ended, "_sessionId"), session);
  EXPECT_FALSE(string_field(ended, "detail").empty());
  const auto user = fixture.join_with_acks("Ada");
  EXPECT_GT(integer_field(query_session(user, session), "ended"), 0);
  fixture.disconnect(user);
  fixture.advance(30s);
  fixture.join_with_acks("Bob");
  EXPECT_EQ(log("session.ended").size(), 1u) << "reported once";
}

TEST_F(SessionEvents, SessionEndedWithoutDaemonIsReportedByItsRecord) {
  using protocol::EndReason;
  const struct {
    protocol::Bye bye;
    std::string reason, detail, by;
  } kEnds[] = {{{.end = EndReason::Completed}, "completed", "", ""},
               {{.end = EndReason::Crashed, .reason = "exited with code 3"}, "crashed", "exited with code 3", ""},
               {{.end = EndReason::Released, .by = "Alice", .reason = "enough"}, "released", "enough", "Alice"}};
  for (const auto& end : kEnds) {
    fixture.join_with_acks("Bob");
    const auto session = started_session();
    fixture.advance(2s);
    auto bye = end.bye;
    bye.ended_at = fixture.now().wall;
    leave_record(session, bye);
    const auto before = log("session.ended").size();
    fixture.restart_after(20s);
    const auto ended = last("session.ended");
    EXPECT_EQ(log("session.ended").size(), before + 1);
    EXPECT_EQ(string_field(ended, "_sessionId"), session);
    EXPECT_EQ(string_field(ended, "reason"), end.reason);
    EXPECT_EQ(string_field(ended, "detail"), end.detail);
    EXPECT_EQ(string_field(ended, "releasedBy"), end.by);
    EXPECT_EQ(integer_field(ended, "endedAt"), bye.ended_at);
    EXPECT_EQ(integer_field(*object_member(ended, "summary"), "duration"), 2'000);
    EXPECT_TRUE(fixture.ended_sessions().empty()) << "the record is removed after its report";
    fixture.restart();
    fixture.advance(70s);
    EXPECT_EQ(log("session.ended").size(), before + 1) << "reported once";
  }
  EXPECT_EQ(string_field(last("agent.released"), "releasedBy"), "Alice");
}

TEST_F(SessionEvents, RecordStaysUntilEndIsDurable) {
  fixture.join_with_acks("Bob");
  const auto session = started_session();
  leave_record(session, {});
  fixture.restart();
  fixture.hold_commits();
  fixture.settle();
  EXPECT_EQ(fixture.ended_sessions().size(), 1U);
  fixture.restart();  // killed before the commit
  fixture.release_commits();
  EXPECT_EQ(string_field(last("session.ended"), "reason"), "completed");
  EXPECT_EQ(log("session.ended").size(), 1U);
  EXPECT_TRUE(fixture.ended_sessions().empty());
}

TEST_F(SessionEvents, RecordIsReadBeforeLostSessionEndsOrIsReplaced) {
  fixture.disconnect(fixture.join_with_acks("Bob"));
  leave_record(started_session(), {});
  fixture.advance(61s);
  EXPECT_EQ(string_field(last("session.ended"), "reason"), "completed");

  fixture.disconnect(fixture.join_with_acks("Bob"));
  leave_record(started_session(), {.end = protocol::EndReason::Released});
  const auto next = fixture.join_with_acks("Bob");
  EXPECT_EQ(string_field(last("session.ended"), "reason"), "released");
  EXPECT_EQ(fixture.received(next, "WELCOME").size(), 1U);
  EXPECT_EQ(log("session.ended").size(), 2U);
}

TEST_F(SessionEvents, RecordOfLostSessionIsReadSoon) {
  fixture.disconnect(fixture.join_with_acks("Bob"));
  const auto ended_at = fixture.now().wall;
  leave_record(started_session(), {.ended_at = ended_at});
  fixture.advance(5s);
  EXPECT_EQ(string_field(last("session.ended"), "reason"), "completed");
  EXPECT_EQ(integer_field(last("session.ended"), "endedAt"), ended_at);
}

TEST_F(SessionEvents, RecordOfConnectedOrUnknownSessionIsIgnored) {
  const auto bob = fixture.join_with_acks("Bob");
  const auto session = started_session();
  leave_record(session, {});
  leave_record("s-0000", {});
  fixture.disconnect(fixture.join_with_acks("Eve"));
  advance_with_pongs(bob, 80s);  // beyond the grace period of Eve
  EXPECT_EQ(string_field(last("session.ended"), "reason"), "crashed");
  fixture.request(bob, "BYE", R"({"end":"crashed","reason":"exited with code 3"})");
  EXPECT_EQ(string_field(last("session.ended"), "detail"), "exited with code 3");
  EXPECT_EQ(log("session.ended").size(), 2U);
}

TEST_F(SessionEvents, SessionEndIsNotBeforeItsStartNorInTheFuture) {
  for (const WallMs at : {WallMs{5}, fixture.now().wall + 3'600'000}) {
    const auto bob = fixture.join_with_acks("Bob");
    const auto started = integer_field(last("session.started"), "startedAt");
    fixture.request(bob, "BYE", format(R"({{"endedAt":{}}})", at));
    EXPECT_GE(integer_field(last("session.ended"), "endedAt"), started);
    EXPECT_LE(integer_field(last("session.ended"), "endedAt"), fixture.now().wall);
  }
}

TEST_F(SessionEvents, UnsentEventsOfRecordCountInTotals) {
  const auto bob = fixture.join_with_acks("Bob");
  const auto session = started_session();
  const auto command = [](int n) {
    return format(R"({{"type":"command.executed","command":"ls {}","duration":1}})", n);
  };
  fixture.send_event(bob, "e1-1", command(1));
  auto ended = record_of(session, {});
  for (int n = 1; n <= 3; ++n) ended.events.push_back({format("e1-{}", n), format(R"({{"event":{}}})", command(n))});
  fixture.ended_sessions().push_back(ended);
  fixture.restart();
  fixture.settle();
  EXPECT_EQ(log("command.executed").size(), 3U) << "the first was sent before";
  EXPECT_EQ(integer_field(*object_member(last("session.ended"), "summary"), "commandsRun"), 3);
}

TEST_F(SessionEvents, LostSessionResumes) {
  const auto first = fixture.join_with_acks("Bob");
  const auto token = token_of(fixture, first);
  fixture.disconnect(first);
  fixture.advance(40s);
  const auto second = fixture.join_with_acks("Bob", with_token(token));
  advance_with_pongs(second, 120s);
  EXPECT_TRUE(log("session.ended").empty());
  fixture.disconnect(second);
  fixture.advance(59s);
  EXPECT_TRUE(log("session.ended").empty()) << "the grace period starts with the last disconnect";
  fixture.advance(2s);
  EXPECT_EQ(log("session.ended").size(), 1u);
}

TEST_F(SessionEvents, LostSessionEndsAfterRestartOfDaemon) {
  fixture.disconnect(fixture.join_with_acks("Bob"));
  fixture.advance(30s);
  fixture.restart();
  fixture.advance(59s);
  EXPECT_TRUE(log("session.ended").empty()) << "the grace period starts again";
  fixture.advance(2s);
  EXPECT_EQ(string_field(last("session.ended"), "reason"), "crashed");
}

TEST_F(SessionEvents, LostSessionKeepsClaimOnItsName) {
  fixture.disconnect(fixture.join_with_acks("Bob", R"("session":{"claim_token":"secret"})"));
  fixture.advance(2min);
  EXPECT_EQ(log("session.ended").size(), 1u);
  const auto other = fixture.join_with_acks("Bob");
  EXPECT_FALSE(fixture.received(other, "ERROR").empty());
  fixture.restart();
  const auto owner = fixture.join_with_acks("Bob", R"("session":{"claim_token":"secret"})");
  EXPECT_FALSE(fixture.received(owner, "WELCOME").empty());
}

TEST_F(SessionEvents, ByeSetsEndOfSession) {
  fixture.request(fixture.join_with_acks("Bob"), "BYE", R"({"end":"crashed","reason":"exited with code 3"})");
  EXPECT_EQ(string_field(last("session.ended"), "reason"), "crashed");
  EXPECT_EQ(string_field(last("session.ended"), "detail"), "exited with code 3");
  EXPECT_TRUE(log("agent.released").empty());
  fixture.request(fixture.join_with_acks("Bob"), "BYE", R"({"end":"released","by":"human","reason":"enough"})");
  EXPECT_EQ(string_field(last("session.ended"), "reason"), "released");
  EXPECT_EQ(string_field(last("session.ended"), "releasedBy"), "human");
  EXPECT_EQ(string_field(last("agent.released"), "releasedBy"), "human");
  EXPECT_EQ(string_field(last("agent.released"), "reason"), "enough");
  EXPECT_EQ(log("agent.released").size(), 1u);
}

TEST_F(SessionEvents, ByeDirectlyAfterHelloEndsSession) {
  const auto bob = fixture.connect();
  fixture.hold_commits();
  fixture.hello(bob, "Bob");
  fixture.request(bob, "BYE", R"({"end":"crashed","reason":"exited with code 1"})");
  fixture.release_commits();
  EXPECT_EQ(string_field(last("session.ended"), "detail"), "exited with code 1");
}

TEST_F(SessionEvents, ReleaseIsRecordedOnceWithRequester) {
  const auto alice = fixture.join_with_acks("Alice");
  const auto cli = fixture.join("cli", R"("_isSystemComponent":true)");
  for (const auto& [user, payload, by] :
       {std::tuple{alice, R"({"name":"Worker","reason":"done","by":"human"})", "Alice"},
        std::tuple{cli, R"({"name":"Worker","reason":"done","by":"api"})", "api"},
        std::tuple{cli, R"({"name":"Worker","reason":"done"})", "human"}}) {
    const auto before = log("agent.released").size();
    const auto worker = fixture.join_with_acks("Worker");
    fixture.request(user, "RELEASE", payload);
    const auto end = fixture.host_requests<StopHost>().at(0);
    EXPECT_EQ(end.release.by, by);
    fixture.request(worker, "BYE", format(R"({{"end":"released","by":"{}"}})", by));
    fixture.host_done(end.id, {});
    EXPECT_EQ(log("agent.released").size(), before + 1);
    EXPECT_EQ(string_field(last("agent.released"), "releasedBy"), by);
    EXPECT_EQ(string_field(last("agent.released"), "reason"), "done");
    EXPECT_EQ(string_field(last("session.ended"), "reason"), "released");
    EXPECT_EQ(string_field(last("session.ended"), "releasedBy"), by);
  }
}

TEST_F(SessionEvents, ReleasedSessionWithoutByeEnds) {
  const auto alice = fixture.join_with_acks("Alice");
  for (const bool early : {true, false}) {
    const auto worker = fixture.join_with_acks("Worker");
    fixture.request(alice, "RELEASE", R"({"name":"Worker","reason":"enough"})");
    const auto end = fixture.host_requests<StopHost>().at(0).id;
    if (early) fixture.disconnect(worker);
    fixture.host_done(end, {});
    if (!early) fixture.disconnect(worker);
    EXPECT_EQ(string_field(last("session.ended"), "reason"), "released");
    EXPECT_EQ(string_field(last("session.ended"), "_agentName"), "Worker");
    const auto released = last("agent.released");
    EXPECT_EQ(string_field(released, "agentName"), "Worker");
    EXPECT_EQ(string_field(released, "releasedBy"), "Alice");
    EXPECT_EQ(string_field(released, "reason"), "enough");
  }
  EXPECT_EQ(log("agent.released").size(), 2u) << "one per release";
  EXPECT_EQ(log("session.ended").size(), 2u);
  const auto worker = fixture.join_with_acks("Worker");
  fixture.request(worker, "BYE");
  EXPECT_EQ(string_field(last("session.ended"), "reason"), "completed");
}

}  // namespace
}  // namespace relay::broker
