#include <gtest/gtest.h>

#include "broker/spawn_policy.h"
#include "broker/testing/broker_fixture.h"

namespace relay::broker {
namespace {

using testing::body;
using testing::BrokerFixture;
using testing::Frame;
using testing::payload;
using testing::text;
using Texts = std::vector<std::string>;

/// The one result heard, as its payload.
Frame result(BrokerFixture& world, ConnectionId who, std::string_view type) {
  const auto frames = world.received(who, type);
  EXPECT_EQ(frames.size(), 1u) << type;
  return frames.empty() ? Frame{} : payload(frames.front());
}

StartHost only_start(BrokerFixture& world) {
  auto starts = world.host_requests<StartHost>();
  EXPECT_EQ(starts.size(), 1u);
  return starts.empty() ? StartHost{} : std::move(starts.front());
}

ConnectionId command_line(BrokerFixture& world) {
  const auto cli = world.join("cli", R"("_isSystemComponent":true,"capabilities":{"send_ack":true})");
  world.received(cli);
  return cli;
}

TEST(Spawn, StartsProgramOnceAndResponds) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  world.received(alice);
  world.request(alice, "SPAWN",
                R"({"name":"Worker","cli":" claude  --fast ","args":["-p","two words"],"cwd":"/tmp","team":"t",)"
                R"("model":"m","spawnerName":"Somebody"})",
                "s1");
  const auto start = only_start(world);
  EXPECT_EQ(start.order.name, "Worker");
  EXPECT_EQ(start.order.words, (Texts{"claude", "--fast", "-p", "two words"}));
  EXPECT_EQ(start.order.directory, "/tmp");
  EXPECT_EQ(start.order.spawner, "Alice");  // a session is known by itself, whatever it says
  EXPECT_EQ(start.order.team, "t");
  EXPECT_EQ(start.order.model, "m");
  EXPECT_TRUE(world.received(alice).empty());
  world.host_started(start.id, 4711);
  const auto answer = result(world, alice, "SPAWN_RESULT");
  EXPECT_EQ(text(answer, "replyTo"), "s1");
  EXPECT_EQ(bool_member(answer, "success"), true);
  EXPECT_EQ(text(answer, "name"), "Worker");
  EXPECT_EQ(integer_member(answer, "pid"), 4711);
  EXPECT_FALSE(answer.contains("taskId"));
  world.host_started(start.id, 4711);
  EXPECT_TRUE(world.received(alice).empty());
}

TEST(Spawn, LongTaskDoesNotBlockItsSpawner) {
  BrokerFixture world;
  const auto alice = world.join("Alice"), bob = world.join_ours("Bob");
  world.join("Carol");
  world.send(bob, "b", "Carol", "somebody else speaks");
  world.request(alice, "SPAWN", format(R"({{"name":"Worker","cli":"claude","task":"{}"}})", std::string(60'000, 'x')),
                "s1");
  EXPECT_FALSE(world.paused(alice));
  world.host_started(only_start(world).id, 4711);
  EXPECT_FALSE(world.paused(alice));
}

TEST(Spawn, StoresTheTaskBeforeItsWordAndDeliversItOnHello) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  world.received(alice);
  world.request(alice, "SPAWN", R"({"name":"Worker","cli":"claude","task":"fix \"it\"\nnow"})", "s1");
  const auto start = only_start(world);
  EXPECT_EQ(start.order.task, "fix \"it\" now");
  world.hold_commits();
  world.host_started(start.id, 1);
  EXPECT_TRUE(world.received(alice, "SPAWN_RESULT").empty());
  world.release_commits();
  const auto answer = result(world, alice, "SPAWN_RESULT");
  const auto rows = testing::inbox_of(world, "Worker");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].message.from, AgentName{"Alice"});
  const auto trace = world.store().trace(text(answer, "taskId"));
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->message.key, rows[0].message.key);
  const auto worker = world.join_ours("Worker");
  EXPECT_EQ(world.bodies(worker), Texts{"fix \"it\"\nnow"});
}

TEST(Spawn, GivesTheTaskToAnAgentThatIsFasterThanItsHostsWord) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  world.request(alice, "SPAWN", R"({"name":"Worker","cli":"claude","task":"go"})");
  const auto worker = world.join_ours("Worker");
  world.received(worker);
  world.host_started(only_start(world).id, 1);
  EXPECT_EQ(world.bodies(worker), Texts{"go"});
}

TEST(Spawn, KeepsTaskOfDisconnectedSpawner) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  world.request(alice, "SPAWN", R"({"name":"Worker","cli":"claude","task":"go"})");
  world.leave(alice);
  world.host_started(only_start(world).id, 1);
  EXPECT_EQ(testing::inbox_of(world, "Worker").size(), 1u);
  EXPECT_TRUE(world.received(alice, "SPAWN_RESULT").empty());
}

TEST(Spawn, RespondsOnceFailingStoreHasTask) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  world.request(alice, "SPAWN", R"({"name":"Worker","cli":"claude","task":"go"})");
  const auto start = only_start(world);
  world.received(alice);
  world.fail_commits(true);
  world.host_started(start.id, 1);
  EXPECT_TRUE(world.received(alice, "SPAWN_RESULT").empty());
  world.request(alice, "SPAWN", R"({"name":"Another","cli":"claude","task":"go"})");
  EXPECT_EQ(text(result(world, alice, "SPAWN_RESULT"), "code"), "STORAGE");
  world.fail_commits(false);
  world.pass(std::chrono::seconds{2});
  EXPECT_EQ(bool_member(result(world, alice, "SPAWN_RESULT"), "success"), true);
  EXPECT_EQ(world.bodies(world.join_ours("Worker")), Texts{"go"});
}

TEST(Spawn, FailureHasReason) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  world.received(alice);
  world.request(alice, "SPAWN", R"({"name":"Worker","cli":"claude","task":"go"})");
  world.host_started(only_start(world).id, fail("cannot find claude"));
  const auto answer = result(world, alice, "SPAWN_RESULT");
  EXPECT_EQ(bool_member(answer, "success"), false);
  EXPECT_EQ(text(answer, "error"), "cannot find claude");
  EXPECT_TRUE(testing::inbox_of(world, "Worker").empty());
  world.request(alice, "SPAWN", R"({"name":"Worker","cli":"codex"})");  // the name is free again
  EXPECT_EQ(world.host_requests<StartHost>().size(), 1u);
}

TEST(Spawn, RefusesWhatCannotBe) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  world.request(alice, "SPAWN", R"({"name":"Busy","cli":"claude"})");
  world.host_requests<StartHost>();
  world.received(alice);
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"name":"Alice","cli":"claude"})", "NOT_OWNER"},
      {R"({"name":"Busy","cli":"claude"})", "NOT_OWNER"},
      {R"({"name":"a b","cli":"claude"})", "BAD_REQUEST"},
      {R"({"name":"cli","cli":"claude"})", "BAD_REQUEST"},
      {R"({"name":"Worker","cli":"  "})", "BAD_REQUEST"},
      {R"({"name":"Worker"})", "BAD_REQUEST"},
      {R"({"cli":"claude"})", "BAD_REQUEST"},
      {R"({"name":"Worker","cli":"a\nb"})", "BAD_REQUEST"},
      {R"({"name":"Worker","cli":"a","args":["\u0000"]})", "BAD_REQUEST"},
      {R"({"name":"Worker","cli":"a","shadowOf":"Alice"})", "UNSUPPORTED"},
      {format(R"({{"name":"Worker","cli":"a","task":"{}"}})", std::string(1'045'000, 'x')), "TOO_LARGE"},
  };
  for (const auto& [request, code] : cases) {
    world.request(alice, "SPAWN", request);
    const auto answer = result(world, alice, "SPAWN_RESULT");
    EXPECT_EQ(bool_member(answer, "success"), false) << request.substr(0, 80);
    EXPECT_EQ(text(answer, "code"), code) << request.substr(0, 80);
    EXPECT_GT(text(answer, "error").size(), 5u);
  }
  EXPECT_TRUE(world.host_requests<StartHost>().empty());
}

TEST(Spawn, BoundsHowManyAreUnderWay) {
  BrokerFixture world{BrokerLimits{.max_starting = 3, .max_starting_each = 2}};
  const auto alice = world.join("Alice");
  const auto bob = world.join("Bob");
  for (int i = 0; i < 3; ++i) world.request(alice, "SPAWN", format(R"({{"name":"A{}","cli":"claude"}})", i));
  EXPECT_EQ(text(result(world, alice, "SPAWN_RESULT"), "code"), "BUSY");
  for (int i = 0; i < 2; ++i) world.request(bob, "SPAWN", format(R"({{"name":"B{}","cli":"claude"}})", i));
  EXPECT_EQ(text(result(world, bob, "SPAWN_RESULT"), "code"), "BUSY");
  auto starts = world.host_requests<StartHost>();
  ASSERT_EQ(starts.size(), 3u);
  world.host_started(starts[0].id, 1);
  world.request(alice, "SPAWN", R"({"name":"A9","cli":"claude"})");
  EXPECT_EQ(world.host_requests<StartHost>().size(), 1u);
}

TEST(Spawn, SpawnFromShellIsTheUsers) {
  BrokerFixture world;
  const auto cli = command_line(world);
  world.request(cli, "SPAWN", R"({"name":"Worker","cli":"claude","task":"go","spawnerName":"ada"})");
  const auto start = only_start(world);
  EXPECT_EQ(start.order.spawner, "ada");
  world.host_started(start.id, 1);
  EXPECT_EQ(testing::inbox_of(world, "Worker").at(0).message.from, AgentName{"ada"});
  const auto worker = world.join_ours("Worker");
  world.send(worker, "1", "ada", "done");  // an answer finds its way back
  EXPECT_EQ(testing::inbox_of(world, "ada").size(), 1u);
}

TEST(Spawn, TaskInNameOfConnectedAgentIsRefused) {
  BrokerFixture world;
  world.join("Alice");
  const auto cli = command_line(world);
  world.request(cli, "SPAWN", R"({"name":"Worker","cli":"claude","task":"go","spawnerName":"Alice"})");
  EXPECT_EQ(text(result(world, cli, "SPAWN_RESULT"), "code"), "NOT_OWNER");
  world.request(cli, "SPAWN", R"({"name":"Worker","cli":"claude","spawnerName":"Alice"})");
  EXPECT_EQ(only_start(world).order.spawner, "Alice");  // without a task nothing is said in its name
}

TEST(Spawn, ShadowsHearTheTask) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  const auto shadow = world.join_ours("Shadow");
  world.request(shadow, "SHADOW_BIND", R"({"primaryAgent":"Alice"})");
  world.request(alice, "SPAWN", R"({"name":"Worker","cli":"claude","task":"go"})");
  world.host_started(only_start(world).id, 1);
  EXPECT_EQ(world.bodies(shadow), Texts{"go"});
}

TEST(Spawn, AnAgentBeingStartedIsNotRemoved) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  world.leave(world.join("Worker"));
  world.request(alice, "SPAWN", R"({"name":"Worker","cli":"claude","task":"go"})");
  world.request(alice, "REMOVE_AGENT", R"({"name":"Worker"})");
  EXPECT_EQ(bool_member(result(world, alice, "REMOVE_AGENT_RESPONSE"), "removed"), false);
}

TEST(Spawn, ShownTaskHasAtMostTwoHundredCharacters) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  std::string task;
  for (int i = 0; i < 300; ++i) task += "ü";
  world.request(alice, "SPAWN", format(R"({{"name":"Worker","cli":"claude","task":"{}"}})", task));
  EXPECT_EQ(only_start(world).order.task, task.substr(0, 400));
}

TEST(Workers, ReleaseAndInputAreAnsweredOnceWithTheOutcome) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  world.received(alice);
  world.request(alice, "RELEASE", R"({"name":"Worker","reason":"done"})", "r1");
  world.request(alice, "SEND_INPUT", R"({"name":"Worker","data":"\u001b[A"})", "i1");
  const auto end = world.host_requests<StopHost>().at(0);
  const auto type = world.host_requests<SendHostInput>().at(0);
  EXPECT_EQ(end.name, "Worker");
  EXPECT_EQ(end.release.reason, "done");
  EXPECT_EQ(type.data, "\x1b[A");
  world.host_done(type.id, fail("it went away"));
  const auto typed = result(world, alice, "SEND_INPUT_RESULT");
  EXPECT_EQ(text(typed, "replyTo"), "i1");
  EXPECT_EQ(text(typed, "error"), "it went away");
  world.host_done(end.id, {});
  const auto released = result(world, alice, "RELEASE_RESULT");
  EXPECT_EQ(text(released, "replyTo"), "r1");
  EXPECT_EQ(text(released, "name"), "Worker");
  EXPECT_EQ(bool_member(released, "success"), true);
  world.host_done(end.id, {});
  EXPECT_TRUE(world.received(alice).empty());
}

TEST(Workers, AReleaseIsAnsweredOnceTheSessionHasLeft) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  for (const bool politely : {true, false}) {
    const auto worker = world.join_ours("Worker");
    world.received(alice);
    world.request(alice, "RELEASE", R"({"name":"Worker"})", "r1");
    world.host_done(world.host_requests<StopHost>().at(0).id, {});
    EXPECT_TRUE(world.received(alice, "RELEASE_RESULT").empty());
    if (politely)
      world.request(worker, "BYE");
    else
      world.leave(worker);
    EXPECT_EQ(bool_member(result(world, alice, "RELEASE_RESULT"), "success"), true);
    world.request(alice, "SPAWN", R"({"name":"Worker","cli":"claude"})");
    world.host_started(only_start(world).id, 1);
    EXPECT_EQ(bool_member(result(world, alice, "SPAWN_RESULT"), "success"), true);
  }
}

TEST(Workers, AReleaseWaitsForASessionWithinBounds) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  world.join_ours("Worker");
  world.received(alice);
  world.request(alice, "RELEASE", R"({"name":"Worker"})", "r1");
  world.host_done(world.host_requests<StopHost>().at(0).id, {});
  world.pass(Millis{1'000});
  world.request(alice, "RELEASE", R"({"name":"Worker"})", "r2");
  world.host_done(world.host_requests<StopHost>().at(0).id, {});
  EXPECT_TRUE(world.received(alice, "RELEASE_RESULT").empty());
  world.pass(Millis{1'000});
  EXPECT_EQ(text(result(world, alice, "RELEASE_RESULT"), "replyTo"), "r1");
  world.pass(Millis{1'000});
  EXPECT_EQ(text(result(world, alice, "RELEASE_RESULT"), "replyTo"), "r2");
}

TEST(Workers, AReleaseThatFailedDoesNotWait) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  world.join_ours("Worker");
  world.received(alice);
  world.request(alice, "RELEASE", R"({"name":"Worker"})");
  world.host_done(world.host_requests<StopHost>().at(0).id, fail("it will not"));
  EXPECT_EQ(text(result(world, alice, "RELEASE_RESULT"), "error"), "it will not");
}

TEST(Workers, StartingAgentCannotBeReleased) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  world.received(alice);
  world.request(alice, "SPAWN", R"({"name":"Worker","cli":"claude"})");
  world.request(alice, "RELEASE", R"({"name":"Worker"})");
  EXPECT_EQ(text(result(world, alice, "RELEASE_RESULT"), "code"), "BUSY");
  EXPECT_TRUE(world.host_requests<StopHost>().empty());
}

TEST(Workers, AreListed) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  world.received(alice);
  world.request(alice, "LIST_WORKERS", "{}", "w1");
  Worker worker;
  worker.name = "Worker";
  worker.cli = "claude";
  worker.spawner = "Alice";
  worker.started = 5;
  worker.pid = 7;
  world.hosts(world.host_requests<ListHosts>().at(0).id, std::vector{worker});
  const auto answer = result(world, alice, "LIST_WORKERS_RESULT");
  EXPECT_EQ(text(answer, "replyTo"), "w1");
  const auto& row = answer.at("workers").as_array().at(0).as_object();
  EXPECT_EQ(text(row, "name"), "Worker");
  EXPECT_EQ(text(row, "spawnerName"), "Alice");
  EXPECT_EQ(integer_member(row, "spawnedAt"), 5);
  EXPECT_EQ(integer_member(row, "pid"), 7);
}

TEST(Workers, OpenQuestionsAreBounded) {
  BrokerFixture world{BrokerLimits{.max_open_queries = 2}};
  const auto alice = world.join("Alice");
  for (int i = 0; i < 3; ++i) world.request(alice, "RELEASE", R"({"name":"Worker"})", format("r{}", i));
  const auto refused = result(world, alice, "RELEASE_RESULT");
  EXPECT_EQ(text(refused, "replyTo"), "r2");
  EXPECT_EQ(text(refused, "code"), "BUSY");
}

TEST(Workers, AnswersForThoseWhoLeftAreDropped) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  world.request(alice, "RELEASE", R"({"name":"Worker"})");
  world.leave(alice);
  world.received(alice);
  world.host_done(world.host_requests<StopHost>().at(0).id, {});
  EXPECT_TRUE(world.received(alice).empty());
}

TEST(Workers, ModelsAreNotChangedFromHere) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  world.request(alice, "SET_MODEL", R"({"name":"Worker","model":"m"})", "m1");
  const auto answer = result(world, alice, "SET_MODEL_RESULT");
  EXPECT_EQ(text(answer, "replyTo"), "m1");
  EXPECT_EQ(text(answer, "code"), "UNSUPPORTED");
}

/// An agent in a host: its session keeps messages for it.
struct SpawnByAgent : ::testing::Test {
  BrokerFixture world;
  ConnectionId alice = world.join("Alice", R"("capabilities":{"ack":true,"send_ack":true,"delivery":{"queue":true}})");
  ConnectionId person = world.join_user();

  void allow(SpawnByAgents mode) {
    world.broker().use_spawn_policy(
        std::make_shared<const SpawnPolicy>(mode, std::set<std::string, std::less<>>{"claude"}));
  }
  void spawn(ConnectionId who, const std::string& members) {
    world.received(who);
    world.request(who, "SPAWN", R"({"name":"Dev",)" + members + "}", "s1");
  }
  std::vector<StartHost> starts() { return world.host_requests<StartHost>(); }
  /// The request that a person sees.
  Frame asked() { return world.answer(person, "PROMPTS", "{}").at("permissions").as_array().at(0).as_object(); }
  void answer(const std::string& decision, const std::string& more = {}) {
    const auto request = text(asked(), "requestId");
    world.request(person, "ANSWER",
                  format(R"({{"agent":"Alice","request":"{}","decision":"{}"{}}})", request, decision, more));
  }
};

TEST_F(SpawnByAgent, SpawnByAgentIsRefusedByDefault) {
  spawn(alice, R"("cli":"claude")");
  EXPECT_TRUE(starts().empty());
  const auto answer = result(world, alice, "SPAWN_RESULT");
  EXPECT_EQ(text(answer, "code"), "REFUSED");
  EXPECT_NE(text(answer, "error").find("by_agents"), std::string::npos);
}

TEST_F(SpawnByAgent, TheCommandLineInsideAnAgentIsLikeTheAgent) {
  const auto inside = world.join_from(protocol::agent_origin("Alice"), "cli",
                                      R"("_isSystemComponent":true,"capabilities":{"send_ack":true})");
  spawn(inside, R"("cli":"claude","spawnerName":"human")");
  EXPECT_TRUE(starts().empty());
  EXPECT_EQ(text(result(world, inside, "SPAWN_RESULT"), "code"), "REFUSED");
  spawn(person, R"("cli":"sh","spawnerName":"human")");
  EXPECT_EQ(starts().size(), 1u) << "a person starts what they like";
}

TEST_F(SpawnByAgent, EnvironmentOfUserIsPassedOnButNotOfAgent) {
  allow(SpawnByAgents::Profiles);
  spawn(person, R"("cli":"claude","spawnerName":"human","environment":["PATH=/mine"])");
  EXPECT_EQ(only_start(world).order.environment, Texts{"PATH=/mine"});
  world.request(alice, "SPAWN", R"({"name":"Eve","cli":"claude","environment":["PATH=/elsewhere"]})", "s2");
  EXPECT_TRUE(only_start(world).order.environment.empty());
}

TEST_F(SpawnByAgent, AShellIsNeverStartedForAnAgent) {
  for (const auto mode : {SpawnByAgents::Ask, SpawnByAgents::Profiles}) {
    allow(mode);
    for (const auto* cli : {"sh -c id", "/usr/bin/claude", "./claude"}) {
      spawn(alice, format(R"("cli":"{}")", cli));
      EXPECT_EQ(text(result(world, alice, "SPAWN_RESULT"), "code"), "REFUSED") << cli;
    }
  }
  EXPECT_TRUE(starts().empty());
}

TEST_F(SpawnByAgent, AProgramWithAProfileIsStartedWhereThatIsAllowed) {
  allow(SpawnByAgents::Profiles);
  spawn(alice, R"("cli":"claude")");
  ASSERT_EQ(starts().size(), 1u);
}

TEST_F(SpawnByAgent, ApprovedSpawnStarts) {
  allow(SpawnByAgents::Ask);
  spawn(alice, R"("cli":"claude -p","args":["two words"],"task":"count the stars")");
  EXPECT_TRUE(starts().empty());
  const auto open = asked();
  EXPECT_EQ(text(open, "tool"), "spawn");
  EXPECT_EQ(text(open, "command"), "claude -p 'two words'");
  EXPECT_NE(text(open, "description").find("count the stars"), std::string::npos);
  EXPECT_TRUE(world.received(alice, "SPAWN_RESULT").empty()) << "it waits";
  answer("approve");
  const auto started = starts();
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].order.words, (Texts{"claude", "-p", "two words"}));
  EXPECT_TRUE(world.received(person, "ANSWER_RESULT").empty()) << "the outcome is not known yet";
  world.host_started(started[0].id, 7);
  EXPECT_EQ(payload(world.received(person, "ANSWER_RESULT").at(0)).at("success").as_bool(), true);
  EXPECT_EQ(bool_member(result(world, alice, "SPAWN_RESULT"), "success"), true);
  EXPECT_TRUE(world.answer(person, "PROMPTS", "{}").at("permissions").as_array().empty());
}

TEST_F(SpawnByAgent, ApprovalReportsAStartThatFailed) {
  allow(SpawnByAgents::Ask);
  spawn(alice, R"("cli":"claude")");
  answer("approve");
  world.host_started(only_start(world).id, fail("claude is not in PATH"));
  const auto told = result(world, person, "ANSWER_RESULT");
  EXPECT_EQ(bool_member(told, "success"), false);
  EXPECT_EQ(text(told, "code"), "REFUSED");
  EXPECT_EQ(text(told, "error"), "approved, but Dev did not start: claude is not in PATH");
  EXPECT_EQ(bool_member(result(world, alice, "SPAWN_RESULT"), "success"), false);
}

TEST_F(SpawnByAgent, ApprovalReportsANameThatIsTaken) {
  allow(SpawnByAgents::Ask);
  spawn(alice, R"("cli":"claude")");
  world.join("Dev");
  answer("approve");
  EXPECT_TRUE(starts().empty());
  const auto told = result(world, person, "ANSWER_RESULT");
  EXPECT_EQ(text(told, "code"), "NOT_OWNER");
  EXPECT_NE(text(told, "error").find("approved, but Dev did not start: "), std::string::npos) << text(told, "error");
}

TEST_F(SpawnByAgent, DeniedSpawnHasReason) {
  allow(SpawnByAgents::Ask);
  spawn(alice, R"("cli":"claude")");
  answer("deny", R"(,"reason":"too many")");
  EXPECT_TRUE(starts().empty());
  EXPECT_EQ(text(result(world, alice, "SPAWN_RESULT"), "error"), "your user said no (too many); go on without it");
}

TEST_F(SpawnByAgent, DisconnectWithdrawsSpawnPrompt) {
  allow(SpawnByAgents::Ask);
  spawn(alice, R"("cli":"claude")");
  (void)asked();
  world.leave(alice);
  EXPECT_TRUE(world.answer(person, "PROMPTS", "{}").at("permissions").as_array().empty());
  EXPECT_TRUE(starts().empty());
}

TEST_F(SpawnByAgent, SpawnPromptWithoutAnswerIsRefusedAtTimeout) {
  allow(SpawnByAgents::Ask);
  spawn(alice, R"("cli":"claude")");
  EXPECT_GT(integer_member(asked(), "expiresAt").value_or(0), world.now().wall);
}

}  // namespace
}  // namespace relay::broker
