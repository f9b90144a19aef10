// The end of agents in the background: release, exit, crash, and what survives the daemon.
#include "cli/spawned_agents.h"
#include "cli/terminal.h"

namespace relay::cli_tests {
namespace {

struct SpawnedEnd : Spawned {};

TEST_F(SpawnedEnd, ReleaseIsReportedAsReleased) {
  spawn("Bob", "wait");
  ASSERT_TRUE(receives("Bob", "wait"));
  box.ok({"release", "Bob", "--reason", "enough"});
  EXPECT_EQ(end_reason("Bob"), "released by human: enough");
  EXPECT_EQ(string_member(last_event("agent.released", "Bob"), "releasedBy"), "human");
}

TEST_F(SpawnedEnd, AgentReleasesOnlyItsWorkersUnderItsName) {
  spawn("Other", "wait");
  box.ok({"spawn", "Mine", program_of("Mine"), "wait", "--from", "In"});
  ASSERT_TRUE(receives("Mine", "wait") && receives("Other", "wait"));
  const auto release = [&](const std::string& name) {
    return format("env -u AGENT_RELAY_NAME {} release {} >>{}/result 2>&1; ", program(), name, box.project());
  };
  const auto script = box.write(box.project() + "/in.sh", release("Other") + release("Mine") + "exec cat\n");
  box.ok({"spawn", "In", "sh " + script});
  EXPECT_EQ(end_reason("Mine"), "released by In") << file_contents(box.project() + "/result");
  EXPECT_NE(file_contents(box.project() + "/result").find("Other was started by ada"), std::string::npos);
  EXPECT_TRUE(is_connected("Other"));
  box.ok({"release", "In"});
}

TEST_F(SpawnedEnd, CrashIsReportedAsCrashed) {
  const auto run = [&](const std::string& name, const std::string& script) {
    box.ok({"spawn", name, "sh " + box.write(format("{}/{}.sh", box.project(), name), "sleep 0.3\n" + script)});
  };
  run("Bob", "exit 3\n");
  EXPECT_EQ(end_reason("Bob"), "crashed: exited with code 3");
  run("Eve", "kill -SEGV $$\n");
  EXPECT_EQ(end_reason("Eve"), "crashed: ended by SIGSEGV");
  run("Ok", "");
  EXPECT_EQ(end_reason("Ok"), "completed");
}

TEST_F(SpawnedEnd, ProgramThatExitsAtOnceLeavesNoSession) {
  for (const auto* name : {"Bob", "Eve", "Mia"}) {
    box.run({"spawn", name, "true"});
    EXPECT_EQ(end_reason(name), "completed");
  }
  EXPECT_EQ(box.ok({"agents", "--names"}).find("Bob"), std::string::npos);
}

TEST_F(SpawnedEnd, KilledHostEndsItsSessionAfterGracePeriod) {
  box.ok({"down", "--all"});
  box.set("AGENT_RELAY_SESSION_GRACE_MS", "500");
  box.ok({"up", "--no-http"});
  spawn("Bob", "wait");
  ASSERT_TRUE(receives("Bob", "wait"));
  ASSERT_EQ(::kill(host_pid("Bob"), SIGKILL), 0);
  EXPECT_EQ(end_reason("Bob"), "crashed: the connection was lost and did not return");
}

TEST_F(SpawnedEnd, ExitDuringDaemonOutageIsReportedLater) {
  const auto run = [&](const std::string& name, const std::string& script) {
    box.ok({"spawn", name,
            "sh " + box.write(format("{}/{}.sh", box.project(), name),
                              format("while ! test -e {}/go; do sleep 0.05; done\n{}\n", box.project(), script))});
    EXPECT_TRUE(is_connected(name));
  };
  run("Ok", "exit 0");
  run("Bob", "exit 3");
  run("Eve", "kill -SEGV $$");
  spawn("Mia", "wait");
  ASSERT_TRUE(receives("Mia", "wait"));
  spawn("Zoe", "wait");
  ASSERT_TRUE(receives("Zoe", "wait"));
  std::vector<pid_t> hosts;
  for (const auto* name : {"Ok", "Bob", "Eve", "Mia", "Zoe"}) hosts.push_back(host_pid(name));
  box.kill_daemon();
  box.ok({"release", "Mia", "--reason", "enough"});
  ASSERT_EQ(::kill(host_pid("Zoe"), SIGKILL), 0);
  box.write(box.project() + "/go", "");
  for (const pid_t host : hosts) ASSERT_TRUE(eventually([&] { return !is_running(host); }));
  const auto exit_time = std::chrono::system_clock::now();
  ASSERT_TRUE(eventually([&] { return std::chrono::system_clock::now() - exit_time > std::chrono::milliseconds{1}; }));
  box.ok({"up", "--no-http"});
  EXPECT_EQ(end_reason("Ok"), "completed");
  EXPECT_EQ(end_reason("Bob"), "crashed: exited with code 3");
  EXPECT_EQ(end_reason("Eve"), "crashed: ended by SIGSEGV");
  EXPECT_EQ(end_reason("Mia"), "released by human: enough");
  EXPECT_EQ(string_member(last_event("agent.released", "Mia"), "reason"), "enough");
  const auto exit_ms = std::chrono::duration_cast<std::chrono::milliseconds>(exit_time.time_since_epoch()).count();
  for (const auto* name : {"Ok", "Bob", "Eve", "Mia"})
    EXPECT_LE(integer_member(last_event("session.ended", name), "endedAt").value_or(exit_ms + 1), exit_ms) << name;
  EXPECT_TRUE(last_event("session.ended", "Zoe").empty())
      << "a killed host reports nothing; its session is in the grace period";
  const auto leftovers = [&] {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator{box.workspace_directory() + "/hosts"})
      count += entry.path().extension() == ".ended";
    return count;
  };
  EXPECT_TRUE(eventually([&] { return leftovers() == 0; })) << leftovers();
  box.kill_daemon();
  box.ok({"up", "--no-http"});
  const auto ends = parse_json_lines(box.ok({"events", "--types", "session.ended", "--json", "--limit", "100"}));
  EXPECT_EQ(ends.size(), 4U) << "each end is reported once";
}

TEST_F(SpawnedEnd, FailedStartAndEndedAgentLeaveNoFolder) {
  const auto folder = [&](const std::string& name) { return box.project() + "/.agent-relay/agents/" + name; };
  EXPECT_NE(box.run({"-n", "Mia", "no-such-program"}).code, 0);
  EXPECT_FALSE(fs::exists(folder("Mia")));
  EXPECT_NE(box.run({"-n", "Mia", "--model", "x", "true"}).code, 0);
  EXPECT_FALSE(fs::exists(folder("Mia")));
  EXPECT_NE(box.run({"spawn", "Mia", "no-such-program"}).code, 0);
  EXPECT_FALSE(fs::exists(folder("Mia")));

  spawn("Bob", "wait");
  ASSERT_TRUE(receives("Bob", "wait"));
  EXPECT_TRUE(fs::is_directory(folder("Bob") + "/outbox"));
  box.ok({"release", "Bob"});
  EXPECT_TRUE(eventually([&] { return !fs::exists(folder("Bob")); }));
}

TEST_F(SpawnedEnd, AgentSurvivesDaemonAndIsReleasedWithoutIt) {
  const auto pid = static_cast<pid_t>(*integer_member(spawn("Bob", "wait"), "pid"));
  ASSERT_TRUE(receives("Bob", "wait"));
  box.kill_daemon();
  EXPECT_TRUE(is_running(pid));
  EXPECT_EQ(box.ok({"release", "Bob"}), "released Bob\n");
  EXPECT_TRUE(eventually([&] { return !is_running(pid); }));
}

TEST_F(SpawnedEnd, NewDaemonFindsAgent) {
  spawn("Bob", "wait");
  ASSERT_TRUE(receives("Bob", "wait"));
  box.kill_daemon();
  box.ok({"up"});
  ASSERT_TRUE(is_connected("Bob"));
  box.ok({"send", "Bob", "welcome back", "--from", "ada"});
  EXPECT_TRUE(receives("Bob", "welcome back"));
  EXPECT_EQ(box.run({"spawn", "Bob", program_of("Bob")}).code, 5);
  box.ok({"release", "Bob"});
}

TEST_F(SpawnedEnd, ReusedPidOfDeadAgentDoesNotChangeAuthority) {
  box.ok({"spawn", "Old", program_of("Old")});
  box.ok({"spawn", "Mine", program_of("Mine")});
  ASSERT_TRUE(is_connected("Old"));
  ASSERT_TRUE(is_connected("Mine"));
  const auto record = record_of("Old");
  auto contents = read_json(record);
  const auto host = host_pid("Old");
  ASSERT_GT(host, 1);
  ::kill(host, SIGKILL);
  box.kill_daemon();
  contents["pid"] = ::getpid();
  box.write(record, json::serialize(contents));
  box.ok({"up"});
  ASSERT_TRUE(is_connected("Mine"));
  box.ok({"send", "Mine", "hello"});
  box.ok({"pause", "Mine"});
  const auto unpaused = box.run({"unpause", "Mine"});
  EXPECT_EQ(unpaused.code, 0) << unpaused.err;
  box.ok({"release", "Mine"});
}

TEST_F(SpawnedEnd, SpawnedAgentSurvivesItsSpawner) {
  allow_agent_spawns();
  Terminal carl{
      box, {"-n", "Carl", "sh", "-c", format("'{0}' up && '{0}' spawn Bob cat && echo both run; exec cat", program())}};
  ASSERT_TRUE(carl.shows("both run"));
  const auto daemon = box.daemon_pid(), bob = host_pid("Bob");
  ASSERT_TRUE(is_running(daemon) && is_running(bob));
  ::kill(carl.pid(), SIGTERM);  // ends the processes of Carl, then the host
  carl.finish();
  EXPECT_TRUE(is_running(daemon));
  EXPECT_TRUE(is_running(bob));
  EXPECT_TRUE(is_connected("Bob"));
  box.ok({"release", "Bob"});
}

TEST_F(SpawnedEnd, NameIsFreeAfterRelease) {
  for (int i = 0; i < 20; ++i) {
    const auto again = box.run({"spawn", "Bob", "cat"});
    ASSERT_EQ(again.code, 0) << i << ": " << again.err;
    ASSERT_EQ(box.ok({"release", "Bob"}), "released Bob\n");
  }
}

TEST_F(SpawnedEnd, AgentInUserTerminalIsNotReleased) {
  Terminal bob{box, {"-n", "Bob", SCRIPTED_AGENT, "--status", "--log", log_of("Bob")}};
  ASSERT_TRUE(is_connected("Bob") && bob.shows("Scripted agent"));
  const auto refused = box.run({"release", "Bob"});
  EXPECT_EQ(refused.code, 5);
  EXPECT_NE(refused.err.find("exit it there"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace relay::cli_tests
