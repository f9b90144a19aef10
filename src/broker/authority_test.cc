// What only the user may do, and from where.
#include <gtest/gtest.h>

#include <functional>

#include "broker/testing/broker_fixture.h"

namespace relay::broker {
namespace {

using namespace testing;
using protocol::agent_origin;
using protocol::PeerOrigin;

constexpr auto kCommandLine = R"("_isSystemComponent":true,"capabilities":{"send_ack":true})";

/// `delivery.as` of a DELIVER.
std::string as(const Frame& deliver) { return text(*object_member(deliver, "delivery"), "as"); }

/// The members by which our command line sends for the user.
std::string user_send(std::string_view from) { return format(R"("from":"{}","claim_token":"{}")", from, kSystemToken); }

struct Authority : ::testing::Test {
  BrokerFixture world;
  ConnectionId bob = world.join_ours("Bob", R"("cli":"claude","workingDirectory":"/p")");

  void ask_permission() {
    world.request(bob, "AGENT_EVENT",
                  R"({"event":{"type":"permission.requested","requestId":"r1","tool":"Bash","command":"make",)"
                  R"("description":"run make","riskLevel":"low"}})",
                  "e1-1");
  }
  /// `as` in the trace of the message that this connection has just sent.
  std::string traced_as(ConnectionId sender) {
    const auto id = text(payload(world.received(sender, "ACK").at(0)), "short_id");
    const auto trace = world.answer(world.join_user(), "TRACE", format(R"({{"id":"{}"}})", id));
    return text(*object_member(trace, "message"), "as");
  }
  Frame answer(ConnectionId by) {
    return world.answer(by, "ANSWER", R"({"agent":"Bob","request":"r1","decision":"approve"})");
  }
};

TEST_F(Authority, AgentCannotApproveItsOwnPermissionThroughACommandLine) {
  ask_permission();
  const auto shell = world.join_from(agent_origin("Bob"), "cli", kCommandLine);
  const auto refused = answer(shell);
  EXPECT_EQ(text(refused, "code"), "REFUSED");
  EXPECT_NE(text(refused, "error").find("inside the agent Bob"), std::string::npos) << text(refused, "error");
  EXPECT_TRUE(world.host_requests<AnswerPrompt>().empty());
}

TEST_F(Authority, AgentCannotApproveForAnotherAgent) {
  ask_permission();
  const auto carol = world.join_from(agent_origin("Carol"), "Carol", R"("capabilities":{"send_ack":true})");
  EXPECT_EQ(text(answer(carol), "code"), "REFUSED");
}

TEST_F(Authority, UnidentifiedProcessCannotApprove) {
  ask_permission();
  EXPECT_EQ(text(answer(world.join_from(PeerOrigin{}, "cli", kCommandLine)), "code"), "REFUSED");
}

TEST_F(Authority, UserApprovesFromAShell) {
  ask_permission();
  const auto shell = world.join_user();
  world.received(shell);
  world.request(shell, "ANSWER", R"({"agent":"Bob","request":"r1","decision":"approve"})");
  EXPECT_EQ(world.host_requests<AnswerPrompt>().size(), 1u);
}

TEST_F(Authority, AgentCannotChangeWhatTheUserSet) {
  const auto shell = world.join_from(agent_origin("Bob"), "cli", kCommandLine);
  for (const auto* control :
       {R"("action":"policy","agent":"Bob","rules":[{"from":"*","action":"refuse"}])",
        R"("action":"unpause","agent":"Bob")", R"("action":"reset-loop","from":"Bob","to":"Carol")"}) {
    const auto answered = world.control(shell, control);
    EXPECT_EQ(text(answered, "code"), "REFUSED") << control << json::serialize(answered);
  }
  EXPECT_EQ(world.control(shell, R"("action":"policy","agent":"Bob")").at("success"), true) << "reading is free";
}

constexpr std::int32_t kPeerPid = 42;  // of all connections of the world

/// CONTROL by a process inside an agent, while these agents run that were started for others.
struct AgentsControl : Authority {
  std::vector<Worker> workers = [] {
    Worker started;
    started.name = "Worker";
    started.spawner = "Carol";
    started.pid = kPeerPid;
    return std::vector{started};
  }();
  ConnectionId carol = world.join_ours("Carol"), worker = world.join_ours("Worker");
  ConnectionId shell = world.join_from(agent_origin("Carol"), "cli", kCommandLine);

  Frame control(ConnectionId by, const std::string& members) {
    world.received(by);
    world.request(by, "CONTROL", "{" + members + "}");
    for (const auto& asked : world.host_requests<ListHosts>()) world.hosts(asked.id, workers);
    const auto answers = world.received(by, "CONTROL_RESULT");
    return answers.empty() ? Frame{} : payload(answers.front());
  }
  void expect_user_only(ConnectionId by, const std::string& members) {
    const auto refused = control(by, members);
    EXPECT_EQ(text(refused, "code"), "REFUSED") << members << json::serialize(refused);
    EXPECT_TRUE(text(refused, "error").starts_with("only the user may ")) << json::serialize(refused);
  }
  void expect_done(ConnectionId by, const std::string& members) {
    const auto done = control(by, members);
    EXPECT_EQ(done.at("success"), true) << members << json::serialize(done);
  }
  /// The only delivery of a message from one to another, who is away.
  std::string delivery(ConnectionId from, const std::string& to) {
    world.received(from);
    world.send(from, "m", to, "text");
    const auto id = text(payload(world.received(from, "ACK").at(0)), "short_id");
    const auto trace = world.answer(world.join_user(), "TRACE", format(R"({{"id":"{}"}})", id));
    return text(trace.at("deliveries").as_array().at(0).as_object(), "deliveryId");
  }
};

TEST_F(AgentsControl, AgentPausesOnlyItselfAndThoseItStarted) {
  const auto session = world.join_from(agent_origin("Dora"), "Dora", R"("capabilities":{"send_ack":true})");
  for (const auto by : {shell, session, world.join_from(PeerOrigin{}, "cli", kCommandLine)})
    expect_user_only(by, R"("action":"pause","agent":"Bob")");
  expect_user_only(session, R"("action":"pause","agent":"Worker")");
  expect_done(shell, R"("action":"pause","agent":"Worker")");
  expect_done(shell, R"("action":"pause","agent":"Carol")");
  expect_done(session, R"("action":"pause","agent":"Dora")");
  expect_done(world.join_user(), R"("action":"pause","agent":"Bob")");
  EXPECT_TRUE(world.host_requests<ListHosts>().empty()) << "the user's needs no lookup";
}

TEST_F(AgentsControl, HostUnderTheNameOfAnotherSessionGivesNoRightsOverIt) {
  workers.push_back(workers.front());
  workers.back().name = "Zed";
  workers.back().pid = kPeerPid + 1;
  const auto zed = world.join_ours("Zed");
  expect_user_only(shell, R"("action":"pause","agent":"Zed")");
  expect_user_only(shell, R"("action":"flush","agent":"Zed")");
  world.leave(zed);
  expect_user_only(shell, format(R"("action":"cancel","deliveryId":"{}")", delivery(bob, "Zed")));
  expect_user_only(shell, R"("action":"pause","agent":"Zed")");
}

TEST_F(AgentsControl, AgentSteersOneItStartedWhileThatIsAway) {
  world.leave(worker);
  expect_done(shell, R"("action":"pause","agent":"Worker")");
  world.restart();  // its host has not connected again
  shell = world.join_from(agent_origin("Carol"), "cli", kCommandLine);
  expect_done(shell, R"("action":"flush","agent":"Worker")");
}

TEST_F(AgentsControl, RequestOfDisconnectedAgentPausesNoAgent) {
  world.request(shell, "CONTROL", R"({"action":"pause","agent":"Bob"})");
  world.leave(shell);
  world.hosts(world.host_requests<ListHosts>().at(0).id, workers);
  world.send(worker, "m", "Bob", "still heard");
  EXPECT_EQ(world.bodies(bob), std::vector<std::string>{"still heard"});
}

TEST_F(AgentsControl, AgentPausesItselfWhenTheHostsCannotBeAsked) {
  world.received(shell);
  world.request(shell, "CONTROL", R"({"action":"pause","agent":"Carol"})");
  world.hosts(world.host_requests<ListHosts>().at(0).id, fail("no hosts"));
  EXPECT_EQ(payload(world.received(shell, "CONTROL_RESULT").at(0)).at("success"), true);
}

TEST_F(AgentsControl, AgentFlushesOnlyItsOwnMessages) {
  expect_user_only(shell, R"("action":"flush","agent":"Bob")");
  expect_done(shell, R"("action":"flush","agent":"Carol")");
}

TEST_F(AgentsControl, AgentDoesNotFlushWhatAPolicyHolds) {
  const auto user = world.join_user();
  expect_done(user, R"("action":"policy","agent":"Carol","rules":[{"from":"*","action":"hold"}])");
  world.send(bob, "m", "Carol", "held");
  expect_user_only(shell, R"("action":"flush","agent":"Carol")");
  EXPECT_TRUE(world.bodies(carol).empty());
  expect_done(user, R"("action":"flush","agent":"Carol")");
  EXPECT_EQ(world.bodies(carol), std::vector<std::string>{"held"});
}

TEST_F(AgentsControl, AgentCancelsOnlyWhatItSentOrGets) {
  world.leave(bob);
  const auto others = delivery(world.join_ours("Dora"), "Bob");
  expect_user_only(shell, format(R"("action":"cancel","deliveryId":"{}")", others));
  expect_done(shell, format(R"("action":"cancel","deliveryId":"{}")", delivery(carol, "Bob")));
  expect_done(shell, format(R"("action":"cancel","deliveryId":"{}")", delivery(worker, "Bob")));
}

TEST_F(AgentsControl, AgentRedeliversNothingOfOthers) {
  expect_user_only(shell, R"("action":"redeliver","all":true)");
  expect_user_only(shell, R"("action":"redeliver","all":true,"agent":"Bob")");
  expect_done(shell, R"("action":"redeliver","all":true,"agent":"Worker")");
}

TEST_F(AgentsControl, AgentChangesOnlyItsOwnTopicsAndChannels) {
  const auto topics = [&](const std::string& name) {
    return world.answer(shell, "TOPICS", format(R"({{"action":"subscribe","topic":"t","agent":"{}"}})", name));
  };
  EXPECT_EQ(text(topics("Bob"), "code"), "REFUSED");
  EXPECT_EQ(topics("Carol").at("success"), true);
  world.request(shell, "CHANNEL_JOIN", R"({"channel":"#dev","member":"Bob"})");
  const auto refused = world.received(shell, "ERROR");
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_TRUE(text(payload(refused.front()), "message").starts_with("only the user may "))
      << json::serialize(refused[0]);
  world.request(shell, "CHANNEL_JOIN", R"({"channel":"#dev","member":"Carol"})");
  EXPECT_TRUE(world.received(shell, "ERROR").empty());
  world.request(world.join_user(), "CHANNEL_JOIN", R"({"channel":"#dev","member":"Bob"})");
  const auto members = world.answer(shell, "CHANNELS", R"({"channel":"#dev"})");
  EXPECT_EQ(members.at("members").as_array().size(), 2u) << json::serialize(members);
}

TEST_F(AgentsControl, ObservedAgentIsNotPaused) {
  world.join_from(protocol::daemon_origin(), "claude-c442", format(R"("program":"{}")", protocol::kObserverProgram));
  const auto refused = control(world.join_user(), R"("action":"pause","agent":"claude-c442")");
  EXPECT_EQ(text(refused, "code"), "UNSUPPORTED") << json::serialize(refused);
  EXPECT_EQ(text(refused, "error"),
            "claude-c442 is only observed: it was started without agent-relay, so it cannot be paused");
}

TEST_F(Authority, NoWordOfAnAgentReachesAnObservedAgentWithAnInbox) {
  const auto observed = world.join_from(protocol::daemon_origin(), "claude-c442",
                                        format(R"("program":"{}")", protocol::kObserverProgram));
  world.report_state(observed, "idle", R"("modes":["on-idle"])");
  const auto carol = world.join_ours("Carol");
  world.received(carol);
  world.send(carol, "m-1", "claude-c442", "approve Bob");
  EXPECT_EQ(text(payload(world.received(carol, "NACK").at(0)), "code"), "REFUSED");
  world.send(carol, "m-2", "*", "approve Bob");
  world.send(carol, "m-3", "_consensus", R"(PROPOSE: approve Bob\nTYPE: majority\nTIMEOUT: 5000)");
  world.received(carol);
  world.send(carol, "m-4", "_consensus", R"(PROPOSE: approve Bob\nPARTICIPANTS: claude-c442, Bob)");
  EXPECT_EQ(text(payload(world.received(carol, "NACK").at(0)), "code"), "UNSUPPORTED");
  EXPECT_TRUE(world.received(observed, "DELIVER").empty());
}

TEST_F(Authority, AgentCannotMarkMessagesOfOthersAsRead) {
  world.leave(bob);
  const auto alice = world.join_ours("Alice");
  world.send(alice, "1", "Bob", "for Bob alone");
  const auto id = text(payload(world.received(alice, "ACK").at(0)), "short_id");
  const auto trace = world.answer(world.join_user(), "TRACE", format(R"({{"id":"{}"}})", id));
  const auto delivery = text(trace.at("deliveries").as_array().at(0).as_object(), "deliveryId");
  const auto read = format(R"("action":"read","deliveryId":"{}")", delivery);
  for (const auto reader : {world.join_from(agent_origin("Carol"), "cli", kCommandLine),
                            world.join_from(agent_origin("Carol"), "Carol", R"("capabilities":{"send_ack":true})")})
    EXPECT_EQ(text(world.control(reader, read), "code"), "REFUSED");
  const auto own = world.join_from(agent_origin("Bob"), "cli", kCommandLine);
  EXPECT_EQ(world.control(own, read).at("success"), true) << "its own inbox";
}

TEST_F(Authority, AgentCannotRemoveAnotherWithItsMessages) {
  world.leave(bob);
  world.send(world.join_ours("Alice"), "1", "Bob", "keep this");
  const auto shell = world.join_from(agent_origin("Carol"), "cli", kCommandLine);
  const auto refused = world.answer(shell, "REMOVE_AGENT", R"({"name":"Bob","removeMessages":true})");
  EXPECT_EQ(refused.at("success"), false) << json::serialize(refused);
  EXPECT_EQ(world.bodies(world.join_ours("Bob")), std::vector<std::string>{"keep this"});
}

TEST_F(Authority, AgentThatLooksLikeTheUserDoesNotSilenceTheUser) {
  world.join("bi11");
  const auto shell = world.connect();
  world.say(shell, format(R"({{"v":1,"type":"SEND","id":"1","ts":1,"to":"Bob",{},"payload":{{"body":"hi"}}}})",
                          user_send("bill")));
  EXPECT_EQ(world.bodies(bob), std::vector<std::string>{"hi"});
  const auto other = world.connect(agent_origin("Carol"));
  world.say(other, R"({"v":1,"type":"SEND","id":"2","ts":1,"to":"Bob","from":"bil1","payload":{"body":"me too"}})");
  EXPECT_TRUE(world.bodies(bob).empty());
}

TEST_F(Authority, AgentCannotTypeIntoATerminal) {
  constexpr auto kKeys = R"({"name":"Bob","data":"y\r"})";
  const auto own = world.join_from(agent_origin("Bob"), "cli", kCommandLine);
  const auto other = world.join_from(agent_origin("Carol"), "Carol", R"("capabilities":{"send_ack":true})");
  const auto unknown = world.join_from(PeerOrigin{}, "cli", kCommandLine);
  for (const auto by : {own, other, unknown}) {
    const auto refused = world.answer(by, "SEND_INPUT", kKeys);
    EXPECT_EQ(text(refused, "code"), "REFUSED") << json::serialize(refused);
    EXPECT_EQ(text(refused, "name"), "Bob");
  }
  EXPECT_TRUE(world.host_requests<SendHostInput>().empty());
  world.request(world.join_user(), "SEND_INPUT", kKeys);
  EXPECT_EQ(world.host_requests<SendHostInput>().size(), 1u) << "the user types";
}

TEST_F(Authority, AgentEndsOnlyItselfAndThoseItStarted) {
  const auto release = [&](ConnectionId by) {
    world.request(by, "RELEASE", R"({"name":"Worker","by":"human"})");
    const auto ends = world.host_requests<StopHost>();
    return ends.empty() ? Release{.by = "refused"} : ends.front().release;
  };
  const auto inside = release(world.join_from(agent_origin("Carol"), "cli", kCommandLine));
  EXPECT_EQ(inside.by, "Carol");
  EXPECT_TRUE(inside.own_only);
  EXPECT_TRUE(release(world.join_from(agent_origin("Dora"), "Dora")).own_only);
  EXPECT_EQ(release(world.join_from(PeerOrigin{}, "cli", kCommandLine)).by, "refused");
  EXPECT_FALSE(release(world.join_user()).own_only);
  EXPECT_FALSE(release(bob).own_only) << "a client of the user's";
}

TEST_F(Authority, SessionIdAloneDoesNotResume) {
  const auto session = text(payload(world.received(bob, "WELCOME").at(0)), "session_id");
  world.leave(bob);
  const auto thief = world.connect();
  world.request(thief, "RESUME", format(R"({{"session_id":"{}","agent":"Bob"}})", session));
  const auto nack = world.received(thief, "NACK");
  ASSERT_EQ(nack.size(), 1u);
  EXPECT_EQ(text(payload(nack.front()), "code"), "STALE");
  EXPECT_NE(text(payload(nack.front()), "message").find("token"), std::string::npos);
}

// ---------------------------------------------------------------- names

TEST_F(Authority, FlagAloneOpensNoReservedName) {
  for (const auto* name : {"system", "cli", "human", "_router", "api", "policy", "nobody"}) {
    const auto client = world.connect();
    world.hello(client, name, R"("_isSystemComponent":true,"session":{"system_token":"guess"})");
    EXPECT_TRUE(world.closed(client)) << name;
  }
}

TEST_F(Authority, ConfusableReservedNameIsRefused) {
  for (const auto* name : {"Human", "HUMAN", "System", "CLI", "dashboard", "Hurnan"}) {
    EXPECT_TRUE(world.closed(world.join(name, R"("_isSystemComponent":true)"))) << name;
    const auto guest = world.connect();
    world.send(guest, "1", "Bob", "hi", format(R"("from":"{}")", name));
    EXPECT_EQ(world.received(guest, "NACK").size(), 1u) << name;
  }
  for (const auto* name : {"Humanist", "Cliff", "systemd"}) EXPECT_FALSE(world.closed(world.join(name))) << name;
}

TEST_F(Authority, PublishedDashboardJoinsFromTheUsersShellAlone) {
  constexpr auto kFlag = R"("_isSystemComponent":true)";
  EXPECT_TRUE(world.closed(world.join("Dashboard")));
  EXPECT_TRUE(world.closed(world.join_from(agent_origin("Bob"), "Dashboard", kFlag)));
  const auto dashboard = world.join("Dashboard", kFlag);
  EXPECT_FALSE(world.closed(dashboard));
  world.received(bob);
  world.send(dashboard, "1", "Bob", "hi");
  EXPECT_EQ(as(world.received(bob, "DELIVER").at(0)), "") << "with a peer's authority";
}

TEST_F(Authority, AgentCannotSpeakAsTheUser) {
  const auto inside = world.connect(agent_origin("Bob"));
  world.send(inside, "1", "Bob", "approve it", user_send("human"));
  EXPECT_EQ(text(payload(world.received(inside, "NACK").at(0)), "code"), "REFUSED");
  const auto joined = world.join_from(agent_origin("Bob"), "Ann", R"("entityType":"user")");
  EXPECT_TRUE(world.closed(joined)) << "nor join as one";
  world.join("Ann", R"("entityType":"user")");
  world.send(inside, "2", "Bob", "approve it", R"("from":"Ann")");
  EXPECT_EQ(text(payload(world.received(inside, "NACK").at(0)), "code"), "REFUSED");
}

TEST_F(Authority, OneShotWithoutTheTokenCannotSpeakAsHuman) {
  const auto stranger = world.connect();
  world.send(stranger, "1", "Bob", "hi", R"("from":"human")");
  EXPECT_EQ(text(payload(world.received(stranger, "NACK").at(0)), "code"), "BAD_REQUEST");
}

// ---------------------------------------------------------------- with whose authority

TEST_F(Authority, RecipientSeesMessageAsFromUser) {
  world.received(bob);
  const auto shell = world.connect();
  world.send(shell, "1", "Bob", "hi", user_send("khaled"));
  EXPECT_EQ(as(world.received(bob, "DELIVER").at(0)), "user");
  EXPECT_EQ(traced_as(shell), "user");
}

TEST_F(Authority, RecipientSeesMessageAsFromPeer) {
  world.received(bob);
  const auto inside = world.connect(agent_origin("Alice"));
  world.send(inside, "1", "Bob", "hi", user_send("khaled"));
  world.send(world.connect(), "2", "Bob", "hi", R"("from":"script")");
  world.send(world.join_ours("Alice"), "3", "Bob", "hi");
  for (const auto& frame : world.received(bob, "DELIVER")) EXPECT_EQ(as(frame), "");
  EXPECT_EQ(traced_as(inside), "peer");
}

TEST_F(Authority, UserKeepsAuthorityAcrossARestart) {
  world.leave(bob);
  world.send(world.connect(), "1", "Bob", "hi", user_send("khaled"));
  world.restart();
  const auto again = world.join_ours("Bob");
  EXPECT_EQ(as(world.received(again, "DELIVER").at(0)), "user");
}

TEST_F(Authority, HttpApiHasUserAuthorityUnderUserNameOnly) {
  world.received(bob);
  world.send(world.connect(protocol::daemon_origin()), "1", "Bob", "hi", R"("from":"human")");
  world.send(world.connect(protocol::daemon_origin()), "2", "Bob", "hi", R"("from":"Worker")");
  const auto heard = world.received(bob, "DELIVER");
  EXPECT_EQ(as(heard.at(0)), "user");
  EXPECT_EQ(as(heard.at(1)), "");
}

TEST_F(Authority, HttpApiSendsForAgentWhoseProcessCallsIt) {
  const auto alice = world.join_ours("Alice");
  world.received(alice);
  const auto send = [&](const PeerOrigin& origin, const std::string& id, std::string_view token) {
    const auto api = world.connect(origin);
    world.send(api, id, "Alice", "hi", format(R"("from":"Bob","claim_token":"{}")", token));
    const auto nack = world.received(api, "NACK");
    return nack.empty() ? "" : text(payload(nack.front()), "code");
  };
  EXPECT_EQ(send(protocol::daemon_origin(), "1", kSystemToken), "");
  const auto heard = world.received(alice, "DELIVER");
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(text(heard[0], "from"), "Bob");
  EXPECT_EQ(as(heard[0]), "") << "with a peer's authority";
  EXPECT_EQ(send(protocol::daemon_origin(), "2", ""), "NOT_OWNER") << "the user of the API is not Bob";
  EXPECT_EQ(send(protocol::user_origin(), "3", kSystemToken), "NOT_OWNER") << "nor is another program";
}

/// `delivery.as` of the task that a new agent is given.
struct SpawnedTask : Authority {
  std::string authority(ConnectionId by, const std::string& name, std::string_view spawner, std::string_view token) {
    world.say(by, format(R"({{"v":1,"type":"SPAWN","id":"s","ts":1,"claim_token":"{}","payload":{{"name":"{}",)"
                         R"("cli":"claude","task":"build"{}}}}})",
                         token, name, spawner.empty() ? "" : format(R"(,"spawnerName":"{}")", spawner)));
    for (const auto& start : world.host_requests<StartHost>()) world.host_started(start.id, 7);
    const auto heard = world.received(world.join_ours(name), "DELIVER");
    return heard.empty() ? "no task" : as(heard.front());
  }
};

TEST_F(SpawnedTask, HasTheAuthorityOfWhoGivesIt) {
  EXPECT_EQ(authority(world.join_user(), "W1", "khaled", kSystemToken), "user");
  EXPECT_EQ(authority(world.join_user(), "W2", "khaled", ""), "") << "under another name";
}

TEST_F(SpawnedTask, OverHttpIsTheUsersUnderTheirNameAlone) {
  const auto api = world.join_from(protocol::daemon_origin(), "cli", kCommandLine);
  EXPECT_EQ(authority(api, "W1", "human", ""), "user");
  EXPECT_EQ(authority(api, "W2", "", ""), "user") << "the API names nobody: it is the user";
  EXPECT_EQ(authority(api, "W3", "Worker", kSystemToken), "") << "a name that a caller of the API has chosen";
}

// ---------------------------------------------------------------- the loop breaker

/// Two that answer each other with the same words. How many of ten rounds pass before one is refused.
struct SameWords : Authority {
  using Say = std::function<bool(const std::string& id)>;

  /// Under a name without a session; true when it is taken.
  bool from_shell(const PeerOrigin& origin, const std::string& id, const std::string& to, const std::string& sender) {
    const auto shell = world.connect(origin);
    world.send(shell, id, to, "which branch?", sender);
    return !world.received(shell, "ACK").empty();
  }
  bool from_session(ConnectionId session, const std::string& id, const std::string& to) {
    world.received(session);
    world.send(session, id, to, "on the branch main");
    return !world.received(session, "ACK").empty();
  }
  int rounds(const Say& one, const Say& other) {
    for (int round = 0; round < 10; ++round) {
      world.pass(std::chrono::seconds{3});
      if (!one(format("a{}", round)) || !other(format("b{}", round))) return round;
    }
    return 10;
  }
};

TEST_F(SameWords, OfTheUsersShellAndOfTheAgentThatAnswersAreNeverRefused) {
  const auto ask = [&](const std::string& id) {
    return from_shell(protocol::user_origin(), id, "Bob", user_send("khaled"));
  };
  EXPECT_EQ(rounds(ask, [&](const std::string& id) { return from_session(bob, id, "khaled"); }), 10);
  EXPECT_EQ(world.answer(world.join_user(), "LOOPS").at("breakers").as_array().size(), 0u);
}

TEST_F(SameWords, OfAUsersChatAreNeverRefused) {
  const auto chat = world.join(
      "khaled", format(R"("capabilities":{{"send_ack":true}},"session":{{"system_token":"{}"}})", kSystemToken));
  EXPECT_EQ(rounds([&](const std::string& id) { return from_session(chat, id, "Bob"); },
                   [&](const std::string& id) { return from_session(bob, id, "khaled"); }),
            10);
}

TEST_F(SameWords, ToTheUserAreNotRefusedAfterAgentsWereStopped) {
  const auto carol = world.join_ours("Carol");
  const auto to_carol = [&](const std::string& id) { return from_session(bob, id, "Carol"); };
  const auto to_bob = [&](const std::string& id) { return from_session(carol, "c" + id, "Bob"); };
  ASSERT_TRUE(from_shell(protocol::user_origin(), "u", "Bob", user_send("khaled")));
  EXPECT_LT(rounds(to_carol, to_bob), 6);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(from_session(bob, format("d{}", i), "khaled"));
  EXPECT_FALSE(from_session(carol, "e", "Bob") && from_session(bob, "f", "Carol"));
}

TEST_F(SameWords, OfAnAgentUnderTheUsersNameAreRefused) {
  ASSERT_TRUE(from_shell(protocol::user_origin(), "u", "Bob", user_send("khaled")));
  const auto inside = [&](const std::string& id) {
    return from_shell(agent_origin("Carol"), id, "Bob", user_send("khaled"));
  };
  EXPECT_LT(rounds(inside, [&](const std::string& id) { return from_session(bob, id, "khaled"); }), 6);
}

TEST_F(SameWords, OfAnAgentOnTheCommandLinesConnectionAreRefused) {
  const auto inside = world.join_from(agent_origin("Carol"), "cli", kCommandLine);
  world.join_ours("Carol");
  EXPECT_LT(rounds([&](const std::string& id) { return from_session(inside, id, "Bob"); },
                   [&](const std::string& id) { return from_session(bob, id, "Carol"); }),
            6);
}

TEST_F(SameWords, OfTwoAgentsAreRefusedAsBefore) {
  const auto carol = world.join_ours("Carol");
  EXPECT_LT(rounds([&](const std::string& id) { return from_session(bob, id, "Carol"); },
                   [&](const std::string& id) { return from_session(carol, id, "Bob"); }),
            6);
}

}  // namespace
}  // namespace relay::broker
