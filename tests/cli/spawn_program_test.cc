// The start of agents in the background: task, directory, environment, permission.
#include "cli/spawned_agents.h"
#include "cli/terminal.h"

namespace relay::cli_tests {
namespace {

TEST_F(Spawned, DaemonAndHostHaveProgramNameInProcessLists) {
  (void)spawn("Bob", "count the stars");
  ASSERT_TRUE(is_connected("Bob"));
  EXPECT_EQ(file_contents(format("/proc/{}/comm", box.daemon_pid())), "agent-relay\n");
  EXPECT_EQ(file_contents(format("/proc/{}/comm", host_pid("Bob"))), "agent-relay\n");
}

TEST_F(Spawned, AgentGetsTaskWithHistory) {
  const auto bob = spawn("Bob", "count the stars");
  EXPECT_EQ(string_member(bob, "name"), "Bob");
  const auto pid = static_cast<pid_t>(*integer_member(bob, "hostPid"));
  EXPECT_TRUE(is_running(pid));
  const auto agent = integer_member(bob, "pid");
  EXPECT_NE(agent, pid);
  const auto explained = box.ok_json({"explain", "Bob"});
  EXPECT_EQ(integer_member(explained, "pid"), agent);
  EXPECT_EQ(integer_member(explained, "hostPid"), pid);
  EXPECT_TRUE(receives("Bob", "count the stars"));
  const auto id = *string_member(bob, "taskId");
  EXPECT_TRUE(eventually([&] { return box.ok({"trace", id}).find("submitted") != std::string::npos; }));
  EXPECT_NE(box.ok({"trace", id}).find("ada"), std::string::npos);
  EXPECT_EQ(box.ok({"release", "Bob", "--reason", "enough"}), "released Bob\n");
  EXPECT_TRUE(eventually([&] { return !is_running(pid); }));
  const auto again = box.run({"release", "Bob"});
  EXPECT_NE(again.code, 0);
  EXPECT_NE(again.err.find("Bob"), std::string::npos) << again.err;
}

TEST_F(Spawned, TaskFromUserShellHasUserAuthority) {
  const auto bob = box.ok_json({"spawn", "Bob", program_of("Bob"), "count the stars"});
  const auto id = string_member(bob, "taskId").value_or("");
  const auto trace = box.ok_json({"trace", id});
  EXPECT_EQ(string_member(*object_member(trace, "message"), "as"), "user") << json::serialize(trace);
  EXPECT_NE(box.ok({"trace", id}).find("as the user"), std::string::npos) << box.ok({"trace", id});
  EXPECT_TRUE(receives("Bob", "Message from your user")) << "the agent gets the authority";
  box.ok({"release", "Bob"});
}

TEST_F(Spawned, TaskFromAgentHasPeerAuthority) {
  allow_agent_spawns();
  Terminal carl{box,
                {"-n", "Carl", "sh", "-c",
                 format("'{0}' spawn Bob cat 'count the stars' --json >'{1}/result' 2>&1; echo spawned; exec cat",
                        program(), box.project())}};
  ASSERT_TRUE(carl.shows("spawned"));
  const auto result = read_json(box.project() + "/result");
  const auto id = string_member(result, "taskId").value_or("");
  ASSERT_FALSE(id.empty()) << file_contents(box.project() + "/result");
  const auto trace = box.ok_json({"trace", id});
  EXPECT_NE(string_member(*object_member(trace, "message"), "as"), "user") << json::serialize(trace);
  EXPECT_EQ(box.ok({"trace", id}).find("as the user"), std::string::npos);
  box.ok({"release", "Bob"});
}

TEST_F(Spawned, ProgramWithoutProfileIsReadLineByLine) {
  box.ok({"chat", "--name", "Bob"});
  const auto script = box.write(box.project() + "/talk.sh",
                                "echo '@relay:Bob hello from a script'\n"
                                "printf '```\\n@relay:Bob an example\\n```\\n'\n"
                                "exec cat\n");
  box.ok({"spawn", "Talker", "sh " + script});
  EXPECT_TRUE(eventually([&] { return box.ok({"inbox", "Bob"}).find("hello from a script") != std::string::npos; }));
  EXPECT_EQ(box.ok({"log"}).find("an example"), std::string::npos);
  const auto explained = box.ok({"explain", "Talker"});
  EXPECT_NE(explained.find("lines are read"), std::string::npos) << explained;
  EXPECT_NE(explained.find("nothing is typed"), std::string::npos) << explained;
  box.ok({"release", "Talker"});
}

TEST_F(Spawned, TaskIsReadFromStdin) {
  box.ok({"spawn", "Bob", program_of("Bob"), "-"}, "from a file\n");
  EXPECT_TRUE(receives("Bob", "from a file"));
  box.ok({"release", "Bob"});
}

TEST_F(Spawned, RunsInLinkedWorktree) {
  const auto main = box.project(), side = fs::path{main}.parent_path().string() + "/side";
  fs::remove_all(main + "/.git");
  const auto git = format(
      "cd {} && git init -q . && git -c user.name=n -c user.email=e commit -q --allow-empty -m first "
      "&& git worktree add -q ../side 2>/dev/null && mkdir -p ../side/sub",
      main);
  ASSERT_EQ(std::system(git.c_str()), 0);
  const auto script = box.write(
      main + "/agent.sh",
      "pwd > seen.new; echo \"$AGENT_RELAY_OUTBOX $AGENT_RELAY_PROJECT\" >> seen.new; mv seen.new seen; exec cat\n");
  for (const auto& directory : {side, side + "/sub"}) {
    box.ok({"-C", directory, "spawn", "Bob", "sh " + script, "--from", "ada"});
    ASSERT_TRUE(eventually([&] { return fs::exists(directory + "/seen"); })) << directory;
    EXPECT_EQ(file_contents(directory + "/seen"),
              format("{0}\n{1}/.agent-relay/agents/Bob/outbox {2}\n", directory, side, main));
    box.ok({"release", "Bob"});
  }
}

TEST_F(Spawned, NonUtf8DirectoryIsRefused) {
  const auto directory = box.project() + "/caf\xe9";
  fs::create_directory(directory);
  const auto refused = box.run({"-C", directory, "spawn", "Bob", "cat", "--from", "ada"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("is not UTF-8"), std::string::npos) << refused.err;
}

TEST_F(Spawned, RunsInGivenDirectory) {
  fs::create_directory(box.project() + "/inside");
  box.ok({"spawn", "Bob", program_of("Bob"), "--cwd", "inside"});
  const auto hosts = fs::directory_iterator{box.workspace_directory() + "/hosts"};
  const auto record =
      std::find_if(begin(hosts), end(hosts), [](const auto& one) { return one.path().extension() == ".json"; });
  ASSERT_NE(record, end(hosts));
  EXPECT_EQ(string_member(read_json(record->path().string()), "cwd"), box.project() + "/inside");
  box.ok({"release", "Bob"});
  const auto missing = box.run({"spawn", "Bob2", "cat", "--cwd", "nowhere"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("nowhere"), std::string::npos) << missing.err;
}

TEST_F(Spawned, ReportsErrors) {
  const auto unknown = box.run({"spawn", "Bob", "no-such-program"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_NE(unknown.err.find("no-such-program"), std::string::npos) << unknown.err;
  EXPECT_EQ(box.run({"spawn", "a b", "cat"}).code, 2);
  EXPECT_EQ(box.run({"spawn", "Bob", " "}).code, 2);
  EXPECT_EQ(box.run({"spawn", "Bob"}).code, 2);
  EXPECT_EQ(box.run({"spawn", "Bob", "cat", "go", "--from", "Bob"}).code, 5);
  box.kill_daemon();
  EXPECT_EQ(box.run({"--no-start", "spawn", "Bob", "cat"}).code, 3);
}

TEST_F(Spawned, AgentPausesAgentItSpawned) {
  allow_agent_spawns();
  box.ok({"up"});
  box.ok({"spawn", "Other", "cat"});
  Terminal carl{box,
                {"-n", "Carl", "sh", "-c",
                 format("'{0}' spawn Bob cat; '{0}' pause Bob; echo own $?; '{0}' pause Other; echo other $?; exec cat",
                        program())}};
  EXPECT_TRUE(carl.shows("own 0")) << carl.screen();
  EXPECT_TRUE(carl.shows("other 5")) << carl.screen();
  box.ok({"release", "Bob"});
  box.ok({"release", "Other"});
}

TEST_F(Spawned, DaemonEnvironmentIsNotInherited) {
  box.kill_daemon();
  box.set("TMUX", "/tmp/elsewhere,1,2");
  box.set("CLAUDECODE", "1");
  box.set("AGENT_RELAY_PTY", "another");
  box.set("KEPT", "yes");
  box.ok({"up"});
  const auto script = box.write(box.project() + "/agent.sh", "env > seen.new; mv seen.new seen; exec cat\n");
  box.ok({"spawn", "Bob", "sh " + script, "a secret task for Bob"});
  const auto seen = box.project() + "/seen";
  ASSERT_TRUE(eventually([&] { return fs::exists(seen); }));
  const auto environment = "\n" + file_contents(seen);
  for (const auto* present : {"\nTERM=xterm-256color\n", "\nKEPT=yes\n", "\nAGENT_RELAY_NAME=Bob\n"})
    EXPECT_NE(environment.find(present), std::string::npos) << present << environment;
  for (const auto* absent :
       {"\nTMUX=", "\nCLAUDECODE=", "AGENT_RELAY_PTY=another", "\nAGENT_RELAY_SPAWN_", "a secret task for Bob"})
    EXPECT_EQ(environment.find(absent), std::string::npos) << absent << environment;
  const auto arguments = file_contents(format("/proc/{}/cmdline", host_pid("Bob")));
  EXPECT_NE(arguments.find("--name=Bob"), std::string::npos) << arguments;
  EXPECT_EQ(arguments.find("a secret task"), std::string::npos) << arguments;
  box.ok({"release", "Bob"});
}

TEST_F(Spawned, ProgramOnCallerPathIsFound) {
  const auto directory = box.project() + "/bin";
  fs::create_directories(directory);
  const auto program = box.write(directory + "/new-agent", "#!/bin/sh\nexec cat\n");
  ASSERT_EQ(::chmod(program.c_str(), 0700), 0);
  EXPECT_EQ(box.run({"spawn", "Bob", "new-agent"}).code, 1);
  box.set("PATH", directory + ":/usr/bin:/bin");  // installed after `up`
  box.ok({"spawn", "Bob", "new-agent"});
  EXPECT_TRUE(is_connected("Bob"));
  box.ok({"release", "Bob"});
}

TEST_F(Spawned, CallerSecretReachesOnlyAgent) {
  const std::string secret = "sk-only-in-memory-4711";
  box.set("SECRET_KEY", secret);
  const auto script =
      box.write(box.project() + "/agent.sh", "echo \"${#SECRET_KEY} $PWD\" > seen.new; mv seen.new seen; exec cat\n");
  box.ok({"spawn", "Bob", "sh " + script, "a task"});
  const auto seen = box.project() + "/seen";
  ASSERT_TRUE(eventually([&] { return fs::exists(seen); }));
  EXPECT_EQ(file_contents(seen), format("{} {}\n", secret.size(), box.project()));
  ASSERT_TRUE(is_connected("Bob"));
  std::error_code none;
  for (const auto& entry : fs::recursive_directory_iterator{box.home(), none})
    if (entry.is_regular_file(none)) {
      EXPECT_EQ(file_contents(entry.path().string()).find(secret), std::string::npos) << entry.path();
    }
  for (const auto& entry : fs::directory_iterator{"/proc", none})
    EXPECT_EQ(file_contents(entry.path().string() + "/cmdline").find(secret), std::string::npos) << entry.path();
  box.ok({"release", "Bob"});
}

TEST_F(Spawned, RunsInCallerDirectory) {
  fs::create_directory(box.project() + "/inside");
  const auto script = box.write(box.project() + "/agent.sh", "pwd > seen.new; mv seen.new seen; exec cat\n");
  const auto command =
      format("cd '{0}/inside' && AGENT_RELAY_HOME='{1}' '{2}' spawn Bob 'sh {3}' --from ada >'{0}/result' 2>&1",
             box.project(), box.home(), program(), script);
  ASSERT_EQ(std::system(command.c_str()), 0) << file_contents(box.project() + "/result");
  const auto seen = box.project() + "/inside/seen";
  ASSERT_TRUE(eventually([&] { return fs::exists(seen); }));
  EXPECT_EQ(file_contents(seen), box.project() + "/inside\n");
  box.ok({"release", "Bob"});
}

}  // namespace
}  // namespace relay::cli_tests
