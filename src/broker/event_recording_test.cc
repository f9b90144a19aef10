// What is worth a line in the log of events: told by sessions of themselves, or noticed by the broker.
#include <gtest/gtest.h>

#include "broker/testing/broker_fixture.h"
#include "broker/testing/sessions.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using namespace testing;

struct Happenings : ::testing::Test {
  BrokerFixture world;

  std::vector<Frame> log(const std::string& type = {}) {
    records::EventQuery query;
    query.limit = 10'000;
    if (!type.empty()) query.filter.types = {type};
    std::vector<Frame> events;
    const auto page = world.store().events(query).value();
    for (const auto& event : page.events) events.push_back(*parse_json_object(event.json));
    return events;
  }
  Frame last(const std::string& type) {
    const auto events = log(type);
    return events.empty() ? Frame{} : events.back();
  }
  /// As a host tells it.
  void tell(ConnectionId who, const std::string& id, const std::string& event) {
    world.say(who, format(R"({{"v":1,"type":"AGENT_EVENT","id":"{}","ts":1,"payload":{{"event":{}}}}})", id, event));
  }
  std::vector<std::string> answers(ConnectionId who) {
    std::vector<std::string> heard;
    for (const auto& frame : world.received(who)) {
      if (text(frame, "type") == "ACK") heard.push_back("ACK " + text(payload(frame), "ack_id"));
      if (text(frame, "type") == "NACK")
        heard.push_back(format("NACK {} {}", text(payload(frame), "nack_id"), text(payload(frame), "code")));
    }
    return heard;
  }
};

constexpr auto kItem = R"({"type":"item.started","itemId":"i1","itemType":"tool_call","startedAt":5})";

TEST_F(Happenings, AgentSpawnedNamesItsSessionAndRole) {
  const auto alice = world.join_ours("Alice");
  world.request(alice, "SPAWN", R"({"name":"Worker","cli":"claude","task":"fix it","role":"reviewer"})", "s1");
  const auto start = world.host_requests<StartHost>().front();
  world.host_started(start.id, 1);
  EXPECT_TRUE(log("agent.spawned").empty());  // its session is not there yet
  world.join_ours("Worker", R"("cli":"claude")");
  const auto spawned = last("agent.spawned");
  EXPECT_EQ(text(spawned, "sessionId"), text(last("session.started"), "sessionId"));
  EXPECT_NE(text(spawned, "sessionId"), "");
  EXPECT_EQ(text(spawned, "spawnedBy"), "Alice");
  EXPECT_EQ(text(spawned, "role"), "reviewer");
  EXPECT_EQ(text(spawned, "task"), "fix it");
  EXPECT_EQ(log("agent.spawned").size(), 1u);

  world.request(alice, "SPAWN", R"({"name":"Quick","cli":"claude"})", "s2");
  const auto quick = world.host_requests<StartHost>().front();
  world.join_ours("Quick", R"("cli":"claude")");  // before its host was heard
  world.host_started(quick.id, 2);
  EXPECT_EQ(text(last("agent.spawned"), "sessionId"), text(last("session.started"), "sessionId"));
  EXPECT_EQ(log("agent.spawned").size(), 2u);
}

TEST_F(Happenings, DeferredDeliveryEventHasTime) {
  const auto alice = world.join_ours("Alice"), bob = world.join_ours("Bob");
  world.send(alice, "m1", "Bob", "hello");
  const auto delivery = text(world.received(bob, "DELIVER").front(), "id");
  world.receipt(bob, delivery, R"("status":"deferred","reason":"a dialog is open")");
  const auto deferred = last("delivery.deferred");
  EXPECT_EQ(text(deferred, "reason"), "a dialog is open");
  EXPECT_GT(number(deferred, "availableAt"), 0);
  EXPECT_EQ(number(deferred, "availableAt"), number(deferred, "at"));
}

TEST_F(Happenings, ASessionBeginsAndEnds) {
  const auto bob =
      world.join_ours("Bob", R"("cli":"claude","workingDirectory":"/p","version":"2.1.325","permissionMode":"plan")");
  const auto started = last("session.started");
  EXPECT_EQ(text(*object_member(started, "agent"), "name"), "Bob");
  EXPECT_EQ(text(*object_member(started, "agent"), "cli"), "claude");
  EXPECT_EQ(text(*object_member(started, "agent"), "version"), "2.1.325");
  EXPECT_EQ(text(*object_member(started, "config"), "workingDirectory"), "/p");
  EXPECT_EQ(text(*object_member(started, "config"), "permissionMode"), "plan");
  const auto session = text(started, "_sessionId");
  EXPECT_FALSE(session.empty());
  world.pass(2s);
  world.say(bob, R"({"v":1,"type":"BYE","id":"b","ts":1,"payload":{}})");
  const auto ended = last("session.ended");
  EXPECT_EQ(text(ended, "_sessionId"), session);
  EXPECT_EQ(text(ended, "reason"), "completed");
  EXPECT_EQ(number(*object_member(ended, "summary"), "duration"), 2'000);
}

TEST_F(Happenings, SessionWasLastSeenWhenItWasLostOrEnded) {
  const auto bob = world.join_ours("Bob"), asker = world.join_ours("Ada");
  const auto session = text(log("session.started").front(), "_sessionId");
  const auto seen = [&] {
    return number(world.answer(asker, "SESSION_QUERY", format(R"({{"id":"{}"}})", session)), "lastSeen");
  };
  world.pass(2s);
  EXPECT_EQ(seen(), world.now().wall) << "it is connected";
  world.leave(bob);
  const auto lost = world.now().wall;
  world.pass(2s);
  EXPECT_EQ(seen(), lost);
  for (int n = 0; n < 20; ++n) {
    world.pass(4s);
    world.say(asker, R"({"v":1,"type":"PONG","id":"p","ts":1,"payload":{"nonce":"x"}})");
  }
  EXPECT_EQ(text(last("session.ended"), "reason"), "crashed");
  EXPECT_EQ(seen(), lost) << "it ended later, after the grace";
}

TEST_F(Happenings, OneThatNeverSaidGoodbyeHasEndedWhenTheNextBegins) {
  world.leave(world.join_ours("Bob"));
  EXPECT_EQ(text(last("agent.status"), "state"), "offline");
  EXPECT_TRUE(log("session.ended").empty()) << "it may come back";
  world.join_ours("Bob");
  EXPECT_EQ(text(last("session.ended"), "reason"), "crashed");
  EXPECT_EQ(log("session.started").size(), 2u);
}

TEST_F(Happenings, LostSessionEndsAsCrashedAfterTheGrace) {
  world.leave(world.join_ours("Bob"));
  const auto session = text(last("session.started"), "_sessionId");
  world.pass(59s);
  EXPECT_TRUE(log("session.ended").empty());
  world.pass(2s);
  const auto ended = last("session.ended");
  EXPECT_EQ(text(ended, "reason"), "crashed");
  EXPECT_EQ(text(ended, "_sessionId"), session);
  EXPECT_FALSE(text(ended, "detail").empty());
  const auto asker = world.join_ours("Ada");
  EXPECT_GT(number(world.answer(asker, "SESSION_QUERY", format(R"({{"id":"{}"}})", session)), "ended"), 0);
  world.leave(asker);
  world.pass(30s);
  world.join_ours("Bob");
  EXPECT_EQ(log("session.ended").size(), 1u) << "told once";
}

/// What the host of that session leaves when it ends unheard.
protocol::EndedSession left_by_host(const std::string& session, protocol::Bye bye) {
  return {.agent = "Bob", .session = session, .bye = std::move(bye), .events = {}};
}

TEST_F(Happenings, SessionEndedWithoutDaemonIsReportedByItsRecord) {
  using protocol::EndReason;
  const struct {
    protocol::Bye bye;
    std::string reason, detail, by;
  } kEnds[] = {{{.end = EndReason::Completed}, "completed", "", ""},
               {{.end = EndReason::Crashed, .reason = "exited with code 3"}, "crashed", "exited with code 3", ""},
               {{.end = EndReason::Released, .by = "Alice", .reason = "enough"}, "released", "enough", "Alice"}};
  for (const auto& end : kEnds) {
    world.join_ours("Bob");
    const auto session = text(last("session.started"), "_sessionId");
    world.pass(2s);
    auto bye = end.bye;
    bye.ended_at = world.now().wall;
    world.ended_sessions().push_back(left_by_host(session, bye));
    const auto before = log("session.ended").size();
    world.now().steady += 20s;  // nobody is there
    world.now().wall += 20'000;
    world.restart();
    world.settle();
    const auto ended = last("session.ended");
    EXPECT_EQ(log("session.ended").size(), before + 1);
    EXPECT_EQ(text(ended, "_sessionId"), session);
    EXPECT_EQ(text(ended, "reason"), end.reason);
    EXPECT_EQ(text(ended, "detail"), end.detail);
    EXPECT_EQ(text(ended, "releasedBy"), end.by);
    EXPECT_EQ(number(ended, "endedAt"), bye.ended_at);
    EXPECT_EQ(number(*object_member(ended, "summary"), "duration"), 2'000);
    EXPECT_TRUE(world.ended_sessions().empty()) << "told, the record is removed";
    world.restart();
    world.pass(70s);
    EXPECT_EQ(log("session.ended").size(), before + 1) << "told once";
  }
  EXPECT_EQ(text(last("agent.released"), "releasedBy"), "Alice");
}

TEST_F(Happenings, RecordOfAnEndStaysUntilTheEndIsDurable) {
  world.join_ours("Bob");
  const auto session = text(last("session.started"), "_sessionId");
  world.ended_sessions().push_back(left_by_host(session, {}));
  world.restart();
  world.hold_commits();
  world.settle();
  EXPECT_EQ(world.ended_sessions().size(), 1U);
  world.restart();  // killed before the commit
  world.release_commits();
  EXPECT_EQ(text(last("session.ended"), "reason"), "completed");
  EXPECT_EQ(log("session.ended").size(), 1U);
  EXPECT_TRUE(world.ended_sessions().empty());
}

TEST_F(Happenings, RecordIsReadBeforeALostSessionEndsOrIsReplaced) {
  world.leave(world.join_ours("Bob"));
  world.ended_sessions().push_back(left_by_host(text(last("session.started"), "_sessionId"), {}));
  world.pass(61s);
  EXPECT_EQ(text(last("session.ended"), "reason"), "completed");

  world.leave(world.join_ours("Bob"));
  world.ended_sessions().push_back(
      left_by_host(text(last("session.started"), "_sessionId"), {.end = protocol::EndReason::Released}));
  const auto next = world.join_ours("Bob");
  EXPECT_EQ(text(last("session.ended"), "reason"), "released");
  EXPECT_EQ(world.received(next, "WELCOME").size(), 1U);
  EXPECT_EQ(log("session.ended").size(), 2U);
}

TEST_F(Happenings, RecordOfALostSessionIsReadSoon) {
  world.leave(world.join_ours("Bob"));
  const auto ended_at = world.now().wall;
  world.ended_sessions().push_back(left_by_host(text(last("session.started"), "_sessionId"), {.ended_at = ended_at}));
  world.pass(5s);
  EXPECT_EQ(text(last("session.ended"), "reason"), "completed");
  EXPECT_EQ(number(last("session.ended"), "endedAt"), ended_at);
}

TEST_F(Happenings, RecordOfALivingOrAnotherSessionEndsNothing) {
  const auto bob = world.join_ours("Bob");
  const auto session = text(last("session.started"), "_sessionId");
  world.ended_sessions().push_back(left_by_host(session, {}));
  world.ended_sessions().push_back(left_by_host("s-0000", {}));
  world.leave(world.join_ours("Eve"));
  for (int n = 0; n < 20; ++n) {  // until the grace of Eve is over
    world.pass(4s);
    world.say(bob, R"({"v":1,"type":"PONG","id":"p","ts":1,"payload":{"nonce":"x"}})");
  }
  EXPECT_EQ(text(last("session.ended"), "reason"), "crashed");
  world.say(bob, R"({"v":1,"type":"BYE","id":"b","ts":1,"payload":{"end":"crashed","reason":"exited with code 3"}})");
  EXPECT_EQ(text(last("session.ended"), "detail"), "exited with code 3");
  EXPECT_EQ(log("session.ended").size(), 2U);
}

TEST_F(Happenings, EndOfASessionIsNotBeforeItsStartAndNotInTheFuture) {
  for (const WallMs at : {WallMs{5}, world.now().wall + 3'600'000}) {
    const auto bob = world.join_ours("Bob");
    const auto started = number(last("session.started"), "startedAt");
    world.say(bob, format(R"({{"v":1,"type":"BYE","id":"b","ts":1,"payload":{{"endedAt":{}}}}})", at));
    EXPECT_GE(number(last("session.ended"), "endedAt"), started);
    EXPECT_LE(number(last("session.ended"), "endedAt"), world.now().wall);
  }
}

TEST_F(Happenings, EventsThatAHostCouldNotTellCountInTheTotals) {
  const auto bob = world.join_ours("Bob");
  const auto session = text(last("session.started"), "_sessionId");
  const auto command = [](int n) {
    return format(R"({{"type":"command.executed","command":"ls {}","duration":1}})", n);
  };
  tell(bob, "e1-1", command(1));
  auto ended = left_by_host(session, {});
  for (int n = 1; n <= 3; ++n) ended.events.push_back({format("e1-{}", n), format(R"({{"event":{}}})", command(n))});
  world.ended_sessions().push_back(ended);
  world.restart();
  world.settle();
  EXPECT_EQ(log("command.executed").size(), 3U) << "the first was told before";
  EXPECT_EQ(number(*object_member(last("session.ended"), "summary"), "commandsRun"), 3);
}

TEST_F(Happenings, LostSessionResumes) {
  const auto first = world.join_ours("Bob");
  const auto token = text(payload(world.received(first, "WELCOME").front()), "resume_token");
  world.leave(first);
  world.pass(40s);
  const auto second = world.join_ours("Bob", format(R"("session":{{"resume_token":"{}"}})", token));
  for (int n = 0; n < 30; ++n) {
    world.pass(4s);
    world.say(second, R"({"v":1,"type":"PONG","id":"p","ts":1,"payload":{"nonce":"x"}})");
  }
  EXPECT_TRUE(log("session.ended").empty());
  world.leave(second);
  world.pass(59s);
  EXPECT_TRUE(log("session.ended").empty()) << "the grace begins with the last loss";
  world.pass(2s);
  EXPECT_EQ(log("session.ended").size(), 1u);
}

TEST_F(Happenings, LostSessionEndsAlsoWhenTheDaemonRestartsMeanwhile) {
  world.leave(world.join_ours("Bob"));
  world.pass(30s);
  world.restart();
  world.pass(59s);
  EXPECT_TRUE(log("session.ended").empty()) << "the grace begins anew";
  world.pass(2s);
  EXPECT_EQ(text(last("session.ended"), "reason"), "crashed");
}

TEST_F(Happenings, LostSessionKeepsTheClaimOnItsName) {
  world.leave(world.join_ours("Bob", R"("session":{"claim_token":"secret"})"));
  world.pass(2min);
  EXPECT_EQ(log("session.ended").size(), 1u);
  const auto other = world.join_ours("Bob");
  EXPECT_FALSE(world.received(other, "ERROR").empty());
  world.restart();
  const auto owner = world.join_ours("Bob", R"("session":{"claim_token":"secret"})");
  EXPECT_FALSE(world.received(owner, "WELCOME").empty());
}

TEST_F(Happenings, ByeSetsEndOfSession) {
  world.request(world.join_ours("Bob"), "BYE", R"({"end":"crashed","reason":"exited with code 3"})");
  EXPECT_EQ(text(last("session.ended"), "reason"), "crashed");
  EXPECT_EQ(text(last("session.ended"), "detail"), "exited with code 3");
  EXPECT_TRUE(log("agent.released").empty());
  world.request(world.join_ours("Bob"), "BYE", R"({"end":"released","by":"human","reason":"enough"})");
  EXPECT_EQ(text(last("session.ended"), "reason"), "released");
  EXPECT_EQ(text(last("session.ended"), "releasedBy"), "human");
  EXPECT_EQ(text(last("agent.released"), "releasedBy"), "human");
  EXPECT_EQ(text(last("agent.released"), "reason"), "enough");
  EXPECT_EQ(log("agent.released").size(), 1u);
}

TEST_F(Happenings, ByeBehindHelloEndsTheSessionItBegan) {
  const auto bob = world.connect();
  world.hold_commits();
  world.hello(bob, "Bob");
  world.request(bob, "BYE", R"({"end":"crashed","reason":"exited with code 1"})");
  world.release_commits();
  EXPECT_EQ(text(last("session.ended"), "detail"), "exited with code 1");
}

TEST_F(Happenings, ReleaseIsRecordedOnceWithRequester) {
  const auto alice = world.join_ours("Alice");
  const auto cli = world.join("cli", R"("_isSystemComponent":true)");
  for (const auto& [asker, payload, by] :
       {std::tuple{alice, R"({"name":"Worker","reason":"done","by":"human"})", "Alice"},
        std::tuple{cli, R"({"name":"Worker","reason":"done","by":"api"})", "api"},
        std::tuple{cli, R"({"name":"Worker","reason":"done"})", "human"}}) {
    const auto before = log("agent.released").size();
    const auto worker = world.join_ours("Worker");
    world.request(asker, "RELEASE", payload);
    const auto end = world.host_requests<StopHost>().at(0);
    EXPECT_EQ(end.release.by, by);
    world.request(worker, "BYE", format(R"({{"end":"released","by":"{}"}})", by));
    world.host_done(end.id, {});
    EXPECT_EQ(log("agent.released").size(), before + 1);
    EXPECT_EQ(text(last("agent.released"), "releasedBy"), by);
    EXPECT_EQ(text(last("agent.released"), "reason"), "done");
    EXPECT_EQ(text(last("session.ended"), "reason"), "released");
    EXPECT_EQ(text(last("session.ended"), "releasedBy"), by);
  }
}

TEST_F(Happenings, AnAgentsStateIsAnEventWhenItChanges) {
  const auto bob = world.join_ours("Bob");
  for (const auto* state : {"active", "active", "idle"}) world.report_state(bob, state);
  std::vector<std::string> states;
  for (const auto& event : log("agent.status")) states.push_back(text(event, "state"));
  EXPECT_EQ(states, (std::vector<std::string>{"active", "idle"}));
}

TEST_F(Happenings, EventOfSessionIsStoredUnderItsNameAndAcknowledged) {
  const auto bob = world.join_ours("Bob");
  answers(bob);
  tell(bob, "e1-1", kItem);
  EXPECT_EQ(answers(bob), std::vector<std::string>{"ACK e1-1"});
  const auto event = last("item.started");
  EXPECT_EQ(text(event, "itemId"), "i1");
  EXPECT_EQ(text(event, "_agentName"), "Bob");
  EXPECT_EQ(text(event, "_sessionId"), text(last("session.started"), "_sessionId"));
}

TEST_F(Happenings, RepeatedEventIsStoredOnceAcrossDaemons) {
  auto bob = world.join_ours("Bob");
  tell(bob, "e1-1", kItem);
  tell(bob, "e1-1", kItem);
  world.restart();
  bob = world.join_ours("Bob");
  answers(bob);
  tell(bob, "e1-1", kItem);
  tell(bob, "e1-2", kItem);
  EXPECT_EQ(answers(bob), (std::vector<std::string>{"ACK e1-1", "ACK e1-2"}));
  EXPECT_EQ(log("item.started").size(), 2u);
}

TEST_F(Happenings, InvalidEventIsRefusedAndNextOneAccepted) {
  const auto bob = world.join_ours("Bob");
  answers(bob);
  tell(bob, "e1-1", R"({"type":"message.exchanged","from":"x","to":"y","body":"","kind":"message"})");
  tell(bob, "e1-2", R"({"type":"item.started","itemId":"i"})");
  tell(bob, "e1-3", R"({"type":"no.such"})");
  tell(bob, "e1-3", R"({"type":"no.such"})");
  tell(bob, "no number", kItem);
  tell(bob, "e1-4", kItem);
  EXPECT_EQ(answers(bob),
            (std::vector<std::string>{"NACK e1-1 BAD_REQUEST", "NACK e1-2 BAD_REQUEST", "NACK e1-3 BAD_REQUEST",
                                      "NACK e1-3 BAD_REQUEST", "NACK no number BAD_REQUEST", "ACK e1-4"}));
  EXPECT_EQ(log("item").size(), 1u);
}

TEST_F(Happenings, UnstoredEventsAreRequestedAgainInOrder) {
  const auto bob = world.join_ours("Bob");
  answers(bob);
  world.fail_commits(true);
  tell(bob, "e1-1", kItem);
  tell(bob, "e1-2", kItem);
  world.fail_commits(false);
  EXPECT_EQ(answers(bob), (std::vector<std::string>{"NACK e1-1 STORAGE", "NACK e1-2 BUSY"}));
  world.pass(5s);
  tell(bob, "e1-2", kItem);
  tell(bob, "e1-1", kItem);
  tell(bob, "e1-2", kItem);
  EXPECT_EQ(answers(bob), (std::vector<std::string>{"NACK e1-2 BUSY", "ACK e1-1", "ACK e1-2"}));
  EXPECT_EQ(log("item.started").size(), 2u);
}

TEST_F(Happenings, StoredEventSurvivesRepetitionWhileStoreFails) {
  auto bob = world.join_ours("Bob");
  for (int n = 1; n <= 3; ++n) tell(bob, format("e1-{}", n), kItem);
  answers(bob);
  world.fail_commits(true);
  world.report_state(bob, "active");  // something that is to be saved
  tell(bob, "e1-1", kItem);
  EXPECT_EQ(answers(bob), std::vector<std::string>{"NACK e1-1 STORAGE"});
  world.fail_commits(false);
  world.pass(5s);
  for (int n = 1; n <= 4; ++n) tell(bob, format("e1-{}", n), kItem);
  EXPECT_EQ(log("item.started").size(), 4u);
}

TEST_F(Happenings, EventsOfConnectionHaveOneEpoch) {
  const auto bob = world.join_ours("Bob");
  answers(bob);
  tell(bob, "e1-7", kItem);
  tell(bob, "e2-1", kItem);
  EXPECT_EQ(answers(bob), (std::vector<std::string>{"ACK e1-7", "NACK e2-1 BAD_REQUEST"}));
}

TEST_F(Happenings, OversizedEventIsRefused) {
  const auto bob = world.join_ours("Bob");
  answers(bob);
  const std::string much(600'000, 'x'), deep(58, '[');
  tell(bob, "e1-1",
       format(R"({{"type":"item.started","itemId":"i","itemType":"plan","startedAt":1,"metadata":{{"a":"{}"}}}})",
              much));
  tell(bob, "e1-2",
       format(R"({{"type":"item.started","itemId":"i","itemType":"plan","startedAt":1,"metadata":{{"a":{}{}}}}})", deep,
              std::string(58, ']')));
  EXPECT_EQ(answers(bob), (std::vector<std::string>{"NACK e1-1 BAD_REQUEST", "NACK e1-2 BAD_REQUEST"}));
}

TEST_F(Happenings, ReconnectedAgentIsNotOffline) {
  auto bob = world.join_ours("Bob");
  const auto token = token_of(world, bob);
  world.report_state(bob, "idle");
  world.leave(bob);
  EXPECT_EQ(text(last("agent.status"), "state"), "offline");
  bob = world.join_ours("Bob", with_token(token));
  EXPECT_EQ(text(last("agent.status"), "state"), "idle");
}

TEST_F(Happenings, TokensAreSummedForTheThreadTheyWereSpentFor) {
  const auto alice = world.join_ours("Alice"), bob = world.join_ours("Bob");
  world.say(alice, R"({"v":1,"type":"SEND","id":"m1","ts":1,"to":"Bob","payload":{"body":"x","thread":"t-9"}})");
  for (const auto& frame : world.received(bob, "DELIVER")) world.ack(bob, frame);
  tell(bob, "e1-1",
       R"({"type":"tokens.used","agentName":"Mallory","model":"m","inputTokens":5,"outputTokens":2,"requestId":"r"})");
  tell(bob, "e1-2",
       R"({"type":"tokens.used","agentName":"Bob","model":"m","inputTokens":9,"outputTokens":3,"requestId":"r"})");
  const auto sums = world.store().usage({}).value();
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].agent, AgentName{"Bob"}) << "nobody spends under another's name";
  EXPECT_EQ(sums[0].input, 9);
  EXPECT_EQ(sums[0].thread, "t-9");
}

TEST_F(Happenings, SessionQueryCountsWork) {
  const auto bob = world.join_ours("Bob");
  tell(bob, "e1-1", R"({"type":"item.completed","itemId":"i","completedAt":1,"duration":1})");
  tell(bob, "e1-2", R"({"type":"command.executed","command":"ls","exitCode":0,"duration":1})");
  tell(bob, "e1-3", R"({"type":"file.operation","operation":"edit","filePath":"a.cc"})");
  tell(bob, "e1-4", R"({"type":"file.operation","operation":"read","filePath":"b.cc"})");
  world.say(bob, R"({"v":1,"type":"BYE","id":"b","ts":1,"payload":{}})");
  const auto summary = *object_member(last("session.ended"), "summary");
  EXPECT_EQ(number(summary, "itemCount"), 1);
  EXPECT_EQ(number(summary, "commandsRun"), 1);
  EXPECT_EQ(json::serialize(summary.at("filesModified")), R"(["a.cc"])");
}

TEST_F(Happenings, AWatcherIsShownWhatItWantsAndNothingElse) {
  const auto watcher = world.join_user();
  world.request(watcher, "EVENTS_SUBSCRIBE", R"({"types":["item"],"agents":["Bob"]})");
  const auto alice = world.join_ours("Alice"), bob = world.join_ours("Bob");
  tell(alice, "e1-1", kItem);
  tell(bob, "e1-1", kItem);
  tell(bob, "e1-2", R"({"type":"command.executed","command":"ls","exitCode":0,"duration":1})");
  const auto heard = world.received(watcher, "AGENT_EVENT");
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(text(event_in(heard[0]), "_agentName"), "Bob");
}

TEST_F(Happenings, ASubscriptionThatIsReplacedAsksTheStoreNoMoreOften) {
  const auto bob = world.join_ours("Bob");
  for (int n = 1; n <= 5; ++n) tell(bob, format("e1-{}", n), kItem);
  const auto watcher = world.join_user();
  world.received(watcher);
  world.hold_commits();
  for (int n = 0; n < 50; ++n) world.request(watcher, "EVENTS_SUBSCRIBE", R"({"types":["item"],"since":0})");
  EXPECT_LE(world.waiting(), 2u);
  world.release_commits();
  EXPECT_EQ(world.received(watcher, "AGENT_EVENT").size(), 5u);
}

TEST_F(Happenings, QuestionsAboutTheLogArePagedAndFiltered) {
  const auto bob = world.join_ours("Bob");
  for (int n = 1; n <= 5; ++n) tell(bob, format("e1-{}", n), kItem);
  const auto ask = [&](const std::string& question) {
    world.request(bob, "EVENTS_QUERY", question);
    return payload(world.received(bob, "EVENTS_RESPONSE").at(0));
  };
  auto page = ask(R"({"types":["item"],"limit":2})");
  EXPECT_EQ(array_member(page, "events")->size(), 2u);
  EXPECT_EQ(bool_member(page, "more"), true);
  page = ask(format(R"({{"types":["item"],"after":{}}})", number(page, "nextAfter")));
  EXPECT_EQ(array_member(page, "events")->size(), 3u);
  EXPECT_EQ(bool_member(page, "more"), false);
  EXPECT_EQ(number(page, "nextAfter"), number(page, "newest"));
  const std::string much(200'000, 'x');
  for (int n = 6; n <= 12; ++n)
    tell(bob, format("e1-{}", n),
         format(R"({{"type":"item.started","itemId":"i{}","itemType":"plan","startedAt":1,"metadata":{{"a":"{}"}}}})",
                n, much));
  page = ask(R"({"newest":true,"limit":100})");
  EXPECT_EQ(text(array_member(page, "events")->back().as_object(), "itemId"), "i12") << "the older ones do not fit";
  EXPECT_EQ(bool_member(page, "more"), true);
  auto shown = array_member(page, "events")->size();
  for (int pages = 0; pages < 10 && bool_member(page, "more") == true; ++pages) {
    page = ask(format(R"({{"newest":true,"types":["item"],"limit":100,"before":{}}})", number(page, "nextBefore")));
    shown += array_member(page, "events")->size();
  }
  EXPECT_EQ(shown, 12u) << "each once";
}

TEST_F(Happenings, OneThatWasReleasedAndWentWithoutAWordHasEndedToo) {
  const auto alice = world.join_ours("Alice");
  for (const bool early : {true, false}) {
    const auto worker = world.join_ours("Worker");
    world.request(alice, "RELEASE", R"({"name":"Worker","reason":"enough"})");
    const auto end = world.host_requests<StopHost>().at(0).id;
    if (early) world.leave(worker);
    world.host_done(end, {});
    if (!early) world.leave(worker);
    EXPECT_EQ(text(last("session.ended"), "reason"), "released");
    EXPECT_EQ(text(last("session.ended"), "_agentName"), "Worker");
    const auto released = last("agent.released");
    EXPECT_EQ(text(released, "agentName"), "Worker");
    EXPECT_EQ(text(released, "releasedBy"), "Alice");
    EXPECT_EQ(text(released, "reason"), "enough");
  }
  EXPECT_EQ(log("agent.released").size(), 2u) << "one for each release";
  EXPECT_EQ(log("session.ended").size(), 2u);
  const auto worker = world.join_ours("Worker");
  world.request(worker, "BYE");
  EXPECT_EQ(text(last("session.ended"), "reason"), "completed");
}

TEST_F(Happenings, LoopsAndVotesAreEvents) {
  const auto alice = world.join_ours("Alice"), bob = world.join_ours("Bob");
  for (int n = 0; n < 20; ++n) {
    world.send(alice, format("a-message-{}", n), "Bob", "thanks");
    world.send(bob, format("b-message-{}", n), "Alice", "thanks");
  }
  EXPECT_FALSE(text(last("loop.tripped"), "reason").empty());
  world.send(alice, "a-proposal-1", "_consensus", R"(PROPOSE: tabs\nPARTICIPANTS: Bob)");
  const auto id = text(last("consensus.proposed"), "proposalId");
  EXPECT_EQ(text(last("consensus.proposed"), "title"), "tabs");
  world.send(bob, "b-vote-1", "_consensus", format("VOTE {} approve", id));
  EXPECT_EQ(text(last("consensus.resolved"), "outcome"), "approved");
  EXPECT_EQ(text(*object_member(last("consensus.resolved"), "votes"), "Bob"), "approve");
}

TEST_F(Happenings, NumbersHaveNoGap) {
  const auto alice = world.join_ours("Alice"), bob = world.join_ours("Bob");
  for (int n = 1; n <= 20; ++n) {
    tell(alice, format("e1-{}", n), kItem);
    world.send(bob, format("message-{}", n), "Alice", "hi");
  }
  std::int64_t before = 0;
  for (const auto& event : log()) EXPECT_EQ(number(event, "_seq"), ++before);
}

}  // namespace
}  // namespace relay::broker
