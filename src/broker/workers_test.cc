// SPAWN, RELEASE, SEND_INPUT and LIST_WORKERS: their limits, outcomes and the task of a new agent.
#include <gtest/gtest.h>

#include "broker/testing/worker_requests.h"

namespace relay::broker {
namespace {

using namespace testing;

TEST(Spawn, StartsProgramOnceAndResponds) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  fixture.drop_received(alice);
  fixture.request(alice, "SPAWN",
                  R"({"name":"Worker","cli":" claude  --fast ","args":["-p","two words"],"cwd":"/tmp","team":"t",)"
                  R"("model":"m","spawnerName":"Other"})",
                  "s1");
  const auto start = only_start(fixture);
  EXPECT_EQ(start.spec.name, "Worker");
  EXPECT_EQ(start.spec.argv, (Strings{"claude", "--fast", "-p", "two words"}));
  EXPECT_EQ(start.spec.directory, "/tmp");
  EXPECT_EQ(start.spec.spawner, "Alice");  // the name of the session, not the one in the request
  EXPECT_EQ(start.spec.team, "t");
  EXPECT_EQ(start.spec.model, "m");
  EXPECT_TRUE(fixture.received(alice).empty());
  fixture.host_started(start.id, 4711);
  const auto answer = only_result(fixture, alice, "SPAWN_RESULT");
  EXPECT_EQ(string_field(answer, "replyTo"), "s1");
  EXPECT_EQ(bool_member(answer, "success"), true);
  EXPECT_EQ(string_field(answer, "name"), "Worker");
  EXPECT_EQ(integer_member(answer, "pid"), 4711);
  EXPECT_FALSE(answer.contains("taskId"));
  fixture.host_started(start.id, 4711);
  EXPECT_TRUE(fixture.received(alice).empty());
}

TEST(Spawn, LongTaskDoesNotBlockItsSpawner) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice"), bob = fixture.join_with_acks("Bob");
  fixture.join("Carol");
  fixture.send(bob, "b", "Carol", "hello");
  fixture.request(alice, "SPAWN", format(R"({{"name":"Worker","cli":"claude","task":"{}"}})", std::string(60'000, 'x')),
                  "s1");
  EXPECT_FALSE(fixture.paused(alice));
  fixture.host_started(only_start(fixture).id, 4711);
  EXPECT_FALSE(fixture.paused(alice));
}

TEST(Spawn, StoresTaskBeforeResultAndDeliversItOnHello) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  fixture.drop_received(alice);
  fixture.request(alice, "SPAWN", R"({"name":"Worker","cli":"claude","task":"fix \"it\"\nnow"})", "s1");
  const auto start = only_start(fixture);
  EXPECT_EQ(start.spec.task, "fix \"it\" now");
  fixture.hold_commits();
  fixture.host_started(start.id, 1);
  EXPECT_TRUE(fixture.received(alice, "SPAWN_RESULT").empty());
  fixture.release_commits();
  const auto answer = only_result(fixture, alice, "SPAWN_RESULT");
  const auto rows = inbox_of(fixture, "Worker");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].message.from, AgentName{"Alice"});
  const auto trace = fixture.store().trace(string_field(answer, "taskId"));
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->message.key, rows[0].message.key);
  const auto worker = fixture.join_with_acks("Worker");
  EXPECT_EQ(fixture.bodies(worker), Strings{"fix \"it\"\nnow"});
}

TEST(Spawn, DeliversTaskToAgentThatJoinsBeforeHostResult) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  fixture.request(alice, "SPAWN", R"({"name":"Worker","cli":"claude","task":"go"})");
  const auto worker = fixture.join_with_acks("Worker");
  fixture.drop_received(worker);
  fixture.host_started(only_start(fixture).id, 1);
  EXPECT_EQ(fixture.bodies(worker), Strings{"go"});
}

TEST(Spawn, KeepsTaskOfDisconnectedSpawner) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  fixture.request(alice, "SPAWN", R"({"name":"Worker","cli":"claude","task":"go"})");
  fixture.disconnect(alice);
  fixture.host_started(only_start(fixture).id, 1);
  EXPECT_EQ(inbox_of(fixture, "Worker").size(), 1u);
  EXPECT_TRUE(fixture.received(alice, "SPAWN_RESULT").empty());
}

TEST(Spawn, RespondsOnceFailingStoreHasTask) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  fixture.request(alice, "SPAWN", R"({"name":"Worker","cli":"claude","task":"go"})");
  const auto start = only_start(fixture);
  fixture.drop_received(alice);
  fixture.fail_commits();
  fixture.host_started(start.id, 1);
  EXPECT_TRUE(fixture.received(alice, "SPAWN_RESULT").empty());
  fixture.request(alice, "SPAWN", R"({"name":"Another","cli":"claude","task":"go"})");
  EXPECT_EQ(string_field(only_result(fixture, alice, "SPAWN_RESULT"), "code"), "STORAGE");
  fixture.accept_commits();
  fixture.advance(std::chrono::seconds{2});
  EXPECT_EQ(bool_member(only_result(fixture, alice, "SPAWN_RESULT"), "success"), true);
  EXPECT_EQ(fixture.bodies(fixture.join_with_acks("Worker")), Strings{"go"});
}

TEST(Spawn, FailureHasReason) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  fixture.drop_received(alice);
  fixture.request(alice, "SPAWN", R"({"name":"Worker","cli":"claude","task":"go"})");
  fixture.host_started(only_start(fixture).id, fail("cannot find claude"));
  const auto answer = only_result(fixture, alice, "SPAWN_RESULT");
  EXPECT_EQ(bool_member(answer, "success"), false);
  EXPECT_EQ(string_field(answer, "error"), "cannot find claude");
  EXPECT_TRUE(inbox_of(fixture, "Worker").empty());
  fixture.request(alice, "SPAWN", R"({"name":"Worker","cli":"codex"})");  // the name is free again
  EXPECT_EQ(fixture.host_requests<StartHost>().size(), 1u);
}

TEST(Spawn, RefusesInvalidRequests) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  fixture.request(alice, "SPAWN", R"({"name":"Busy","cli":"claude"})");
  fixture.host_requests<StartHost>();
  fixture.drop_received(alice);
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
    fixture.request(alice, "SPAWN", request);
    const auto answer = only_result(fixture, alice, "SPAWN_RESULT");
    EXPECT_EQ(bool_member(answer, "success"), false) << request.substr(0, 80);
    EXPECT_EQ(string_field(answer, "code"), code) << request.substr(0, 80);
    EXPECT_GT(string_field(answer, "error").size(), 5u);
  }
  EXPECT_TRUE(fixture.host_requests<StartHost>().empty());
}

TEST(Spawn, PendingSpawnsAreBounded) {
  BrokerFixture fixture{{.max_starting = 3, .max_starting_each = 2}};
  const auto alice = fixture.join("Alice");
  const auto bob = fixture.join("Bob");
  for (int i = 0; i < 3; ++i) fixture.request(alice, "SPAWN", format(R"({{"name":"A{}","cli":"claude"}})", i));
  EXPECT_EQ(string_field(only_result(fixture, alice, "SPAWN_RESULT"), "code"), "BUSY");
  for (int i = 0; i < 2; ++i) fixture.request(bob, "SPAWN", format(R"({{"name":"B{}","cli":"claude"}})", i));
  EXPECT_EQ(string_field(only_result(fixture, bob, "SPAWN_RESULT"), "code"), "BUSY");
  auto starts = fixture.host_requests<StartHost>();
  ASSERT_EQ(starts.size(), 3u);
  fixture.host_started(starts[0].id, 1);
  fixture.request(alice, "SPAWN", R"({"name":"A9","cli":"claude"})");
  EXPECT_EQ(fixture.host_requests<StartHost>().size(), 1u);
}

TEST(Spawn, SpawnFromShellIsByUser) {
  BrokerFixture fixture;
  const auto cli = fixture.join_user();
  fixture.request(cli, "SPAWN", R"({"name":"Worker","cli":"claude","task":"go","spawnerName":"ada"})");
  const auto start = only_start(fixture);
  EXPECT_EQ(start.spec.spawner, "ada");
  fixture.host_started(start.id, 1);
  EXPECT_EQ(inbox_of(fixture, "Worker").at(0).message.from, AgentName{"ada"});
  const auto worker = fixture.join_with_acks("Worker");
  fixture.send(worker, "1", "ada", "done");  // the answer reaches the user
  EXPECT_EQ(inbox_of(fixture, "ada").size(), 1u);
}

TEST(Spawn, TaskInNameOfConnectedAgentIsRefused) {
  BrokerFixture fixture;
  fixture.join("Alice");
  const auto cli = fixture.join_user();
  fixture.request(cli, "SPAWN", R"({"name":"Worker","cli":"claude","task":"go","spawnerName":"Alice"})");
  EXPECT_EQ(string_field(only_result(fixture, cli, "SPAWN_RESULT"), "code"), "NOT_OWNER");
  fixture.request(cli, "SPAWN", R"({"name":"Worker","cli":"claude","spawnerName":"Alice"})");
  EXPECT_EQ(only_start(fixture).spec.spawner, "Alice");  // without a task no message is sent in its name
}

TEST(Spawn, ShadowsReceiveTask) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  const auto shadow = fixture.join_with_acks("Shadow");
  fixture.request(shadow, "SHADOW_BIND", R"({"primaryAgent":"Alice"})");
  fixture.request(alice, "SPAWN", R"({"name":"Worker","cli":"claude","task":"go"})");
  fixture.host_started(only_start(fixture).id, 1);
  EXPECT_EQ(fixture.bodies(shadow), Strings{"go"});
}

TEST(Spawn, AgentBeingStartedIsNotRemoved) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  fixture.disconnect(fixture.join("Worker"));
  fixture.request(alice, "SPAWN", R"({"name":"Worker","cli":"claude","task":"go"})");
  fixture.request(alice, "REMOVE_AGENT", R"({"name":"Worker"})");
  EXPECT_EQ(bool_member(only_result(fixture, alice, "REMOVE_AGENT_RESPONSE"), "removed"), false);
}

TEST(Spawn, TaskOfHostHasAtMostTwoHundredCharacters) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  std::string task;
  for (int i = 0; i < 300; ++i) task += "ü";
  fixture.request(alice, "SPAWN", format(R"({{"name":"Worker","cli":"claude","task":"{}"}})", task));
  EXPECT_EQ(only_start(fixture).spec.task, task.substr(0, 400));
}

TEST(Workers, ReleaseAndInputAreAnsweredOnceWithOutcome) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  fixture.drop_received(alice);
  fixture.request(alice, "RELEASE", R"({"name":"Worker","reason":"done"})", "r1");
  fixture.request(alice, "SEND_INPUT", R"({"name":"Worker","data":"\u001b[A"})", "i1");
  const auto stop = fixture.host_requests<StopHost>().at(0);
  const auto input = fixture.host_requests<SendHostInput>().at(0);
  EXPECT_EQ(stop.name, "Worker");
  EXPECT_EQ(stop.release.reason, "done");
  EXPECT_EQ(input.data, "\x1b[A");
  fixture.host_done(input.id, fail("the host ended"));
  const auto typed = only_result(fixture, alice, "SEND_INPUT_RESULT");
  EXPECT_EQ(string_field(typed, "replyTo"), "i1");
  EXPECT_EQ(string_field(typed, "error"), "the host ended");
  fixture.host_done(stop.id, {});
  const auto released = only_result(fixture, alice, "RELEASE_RESULT");
  EXPECT_EQ(string_field(released, "replyTo"), "r1");
  EXPECT_EQ(string_field(released, "name"), "Worker");
  EXPECT_EQ(bool_member(released, "success"), true);
  fixture.host_done(stop.id, {});
  EXPECT_TRUE(fixture.received(alice).empty());
}

TEST(Workers, ReleaseIsAnsweredAfterSessionEnded) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  for (const bool with_bye : {true, false}) {
    const auto worker = fixture.join_with_acks("Worker");
    fixture.drop_received(alice);
    fixture.request(alice, "RELEASE", R"({"name":"Worker"})", "r1");
    finish_release(fixture);
    EXPECT_TRUE(fixture.received(alice, "RELEASE_RESULT").empty());
    if (with_bye)
      fixture.request(worker, "BYE");
    else
      fixture.disconnect(worker);
    EXPECT_EQ(bool_member(only_result(fixture, alice, "RELEASE_RESULT"), "success"), true);
    fixture.request(alice, "SPAWN", R"({"name":"Worker","cli":"claude"})");
    fixture.host_started(only_start(fixture).id, 1);
    EXPECT_EQ(bool_member(only_result(fixture, alice, "SPAWN_RESULT"), "success"), true);
  }
}

TEST(Workers, ReleaseWaitsForSessionForLimitedTime) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  fixture.join_with_acks("Worker");
  fixture.drop_received(alice);
  fixture.request(alice, "RELEASE", R"({"name":"Worker"})", "r1");
  finish_release(fixture);
  fixture.advance(Millis{1'000});
  fixture.request(alice, "RELEASE", R"({"name":"Worker"})", "r2");
  finish_release(fixture);
  EXPECT_TRUE(fixture.received(alice, "RELEASE_RESULT").empty());
  fixture.advance(Millis{1'000});
  EXPECT_EQ(string_field(only_result(fixture, alice, "RELEASE_RESULT"), "replyTo"), "r1");
  fixture.advance(Millis{1'000});
  EXPECT_EQ(string_field(only_result(fixture, alice, "RELEASE_RESULT"), "replyTo"), "r2");
}

TEST(Workers, FailedReleaseDoesNotWait) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  fixture.join_with_acks("Worker");
  fixture.drop_received(alice);
  fixture.request(alice, "RELEASE", R"({"name":"Worker"})");
  finish_release(fixture, fail("the host refused"));
  EXPECT_EQ(string_field(only_result(fixture, alice, "RELEASE_RESULT"), "error"), "the host refused");
}

TEST(Workers, StartingAgentCannotBeReleased) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  fixture.drop_received(alice);
  fixture.request(alice, "SPAWN", R"({"name":"Worker","cli":"claude"})");
  fixture.request(alice, "RELEASE", R"({"name":"Worker"})");
  EXPECT_EQ(string_field(only_result(fixture, alice, "RELEASE_RESULT"), "code"), "BUSY");
  EXPECT_TRUE(fixture.host_requests<StopHost>().empty());
}

TEST(Workers, AreListed) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  fixture.drop_received(alice);
  fixture.request(alice, "LIST_WORKERS", "{}", "w1");
  Worker worker;
  worker.name = "Worker";
  worker.cli = "claude";
  worker.spawner = "Alice";
  worker.started = 5;
  worker.pid = 7;
  fixture.hosts_listed(fixture.host_requests<ListHosts>().at(0).id, std::vector{worker});
  const auto answer = only_result(fixture, alice, "LIST_WORKERS_RESULT");
  EXPECT_EQ(string_field(answer, "replyTo"), "w1");
  const auto& row = answer.at("workers").as_array().at(0).as_object();
  EXPECT_EQ(string_field(row, "name"), "Worker");
  EXPECT_EQ(string_field(row, "spawnerName"), "Alice");
  EXPECT_EQ(integer_member(row, "spawnedAt"), 5);
  EXPECT_EQ(integer_member(row, "pid"), 7);
}

TEST(Workers, PendingRequestsAreBounded) {
  BrokerFixture fixture{{.max_open_queries = 2}};
  const auto alice = fixture.join("Alice");
  for (int i = 0; i < 3; ++i) fixture.request(alice, "RELEASE", R"({"name":"Worker"})", format("r{}", i));
  const auto refused = only_result(fixture, alice, "RELEASE_RESULT");
  EXPECT_EQ(string_field(refused, "replyTo"), "r2");
  EXPECT_EQ(string_field(refused, "code"), "BUSY");
}

TEST(Workers, ResultsForDisconnectedClientsAreDropped) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  fixture.request(alice, "RELEASE", R"({"name":"Worker"})");
  fixture.disconnect(alice);
  fixture.drop_received(alice);
  finish_release(fixture);
  EXPECT_TRUE(fixture.received(alice).empty());
}

TEST(Workers, ModelOfRunningAgentCannotBeSet) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  fixture.request(alice, "SET_MODEL", R"({"name":"Worker","model":"m"})", "m1");
  const auto answer = only_result(fixture, alice, "SET_MODEL_RESULT");
  EXPECT_EQ(string_field(answer, "replyTo"), "m1");
  EXPECT_EQ(string_field(answer, "code"), "UNSUPPORTED");
}

}  // namespace
}  // namespace relay::broker
