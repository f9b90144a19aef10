// Agents in the background: started with a task, found again after the daemon's death, ended by whoever may.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/format.h"
#include "cli/terminal.h"
#include "cli/wire/daemon_connection.h"
#include "protocol/limits.h"

namespace relay::cli_tests {
namespace {

namespace fs = std::filesystem;

struct Spawned : testing::Test {
  Sandbox box;
  Spawned() {
    box.ok({"up"});
    fs::create_directories(box.home() + "/profiles");
    fs::copy_file(SCRIPTED_PROFILE, box.home() + "/profiles/scripted.toml");
  }
  ~Spawned() override {  // hosts are nobody's children: what a failed test left is ended here
    std::error_code none;
    for (const auto& entry : fs::directory_iterator{box.workspace_directory() + "/hosts", none})
      if (entry.path().extension() == ".json")
        if (const auto pid = integer_member(read(entry.path()), "hostPid").value_or(0); pid > 1)
          ::kill(static_cast<pid_t>(pid), SIGKILL);
  }

  static json::object read(const fs::path& path) {
    std::ifstream file{path};
    return parse_json_object(std::string{std::istreambuf_iterator<char>{file}, {}}).value_or(json::object{});
  }
  std::string program_of(const std::string& name) const {
    return format("{} --status --work-ms 50 --log {}", SCRIPTED_AGENT, log_of(name));
  }
  std::string log_of(const std::string& name) const { return box.project() + "/" + name + ".log"; }
  json::object spawn(const std::string& name, const std::string& task) {
    return box.ok_json({"spawn", name, program_of(name), task, "--from", "ada"});
  }
  /// What it was given by Enter contains the words.
  bool hears(const std::string& name, const std::string& words) {
    return eventually([&] {
      std::ifstream file{log_of(name)};
      for (std::string line; std::getline(file, line);) {
        const auto event = parse_json_object(line);
        if (event && string_member(*event, "event") == "submit" &&
            string_member(*event, "text").value_or("").find(words) != std::string::npos)
          return true;
      }
      return false;
    });
  }
  /// The path of its host's record; empty when there is none.
  std::string record_of(const std::string& name) const {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator{box.workspace_directory() + "/hosts", none})
      if (entry.path().extension() == ".json" && string_member(read(entry.path()), "name") == name)
        return entry.path().string();
    return {};
  }
  /// Of its host; 0 when there is none.
  pid_t host_of(const std::string& name) const {
    const auto record = record_of(name);
    return record.empty() ? 0 : static_cast<pid_t>(integer_member(read(record), "hostPid").value_or(0));
  }
  static std::string text_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  json::object last_event(const std::string& type, const std::string& agent) {
    std::istringstream lines{box.ok({"events", "--types", type, "--agent", agent, "--json", "--limit", "1"})};
    std::string line;
    std::getline(lines, line);
    return parse_json_object(line).value_or(json::object{});
  }
  /// How its last session ended, once it has: `released by human: enough`.
  std::string ending_of(const std::string& name) {
    json::object ended;
    (void)eventually([&] { return !(ended = last_event("session.ended", name)).empty(); });
    const auto by = string_member(ended, "releasedBy"), detail = string_member(ended, "detail");
    return string_member(ended, "reason").value_or("no end") + (by ? " by " + *by : "") +
           (detail ? ": " + *detail : "");
  }
  bool is_connected(const std::string& name) {
    return eventually([&] { return box.ok({"agents", "--names"}).find(name + "\n") != std::string::npos; });
  }
};

TEST_F(Spawned, DaemonAndHostAreCalledAgentRelayInProcessLists) {
  (void)spawn("Bob", "count the stars");
  ASSERT_TRUE(is_connected("Bob"));
  EXPECT_EQ(text_of(format("/proc/{}/comm", box.daemon_pid())), "agent-relay\n");
  EXPECT_EQ(text_of(format("/proc/{}/comm", host_of("Bob"))), "agent-relay\n");
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
  EXPECT_TRUE(hears("Bob", "count the stars"));
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
  EXPECT_TRUE(hears("Bob", "Message from your user")) << "Bob is told so";
  box.ok({"release", "Bob"});
}

TEST_F(Spawned, TaskFromAgentHasPeerAuthority) {
  box.kill_daemon();
  box.write(box.home() + "/config.toml", "[spawn]\nby_agents = \"profiles\"\n");
  box.write(box.home() + "/profiles/cat.toml", "name = \"cat\"\ntitle = \"cat\"\ncommands = [\"cat\"]\n");
  Terminal carl{box,
                {"-n", "Carl", "sh", "-c",
                 format("'{0}' spawn Bob cat 'count the stars' --json >'{1}/said' 2>&1; echo it is done; exec cat",
                        program(), box.project())}};
  ASSERT_TRUE(carl.shows("it is done"));
  const auto said = read(box.project() + "/said");
  const auto id = string_member(said, "taskId").value_or("");
  ASSERT_FALSE(id.empty()) << text_of(box.project() + "/said");
  const auto trace = box.ok_json({"trace", id});
  EXPECT_NE(string_member(*object_member(trace, "message"), "as"), "user") << json::serialize(trace);
  EXPECT_EQ(box.ok({"trace", id}).find("as the user"), std::string::npos);
  box.ok({"release", "Bob"});
}

TEST_F(Spawned, ReleaseIsReportedAsReleased) {
  spawn("Bob", "wait");
  ASSERT_TRUE(hears("Bob", "wait"));
  box.ok({"release", "Bob", "--reason", "enough"});
  EXPECT_EQ(ending_of("Bob"), "released by human: enough");
  EXPECT_EQ(string_member(last_event("agent.released", "Bob"), "releasedBy"), "human");
}

TEST_F(Spawned, AgentReleasesOnlyItsOwnAndIsNamedTruthfully) {
  spawn("Other", "wait");
  box.ok({"spawn", "Mine", program_of("Mine"), "wait", "--from", "In"});
  ASSERT_TRUE(hears("Mine", "wait") && hears("Other", "wait"));
  const auto release = [&](const std::string& name) {
    return format("env -u AGENT_RELAY_NAME {} release {} >>{}/said 2>&1; ", program(), name, box.project());
  };
  const auto script = box.write(box.project() + "/in.sh", release("Other") + release("Mine") + "exec cat\n");
  box.ok({"spawn", "In", "sh " + script});
  EXPECT_EQ(ending_of("Mine"), "released by In") << text_of(box.project() + "/said");
  EXPECT_NE(text_of(box.project() + "/said").find("Other was started by ada"), std::string::npos);
  EXPECT_TRUE(is_connected("Other"));
  box.ok({"release", "In"});
}

TEST_F(Spawned, CrashIsReportedAsCrashed) {
  const auto run = [&](const std::string& name, const std::string& script) {
    box.ok({"spawn", name, "sh " + box.write(format("{}/{}.sh", box.project(), name), "sleep 0.3\n" + script)});
  };
  run("Bob", "exit 3\n");
  EXPECT_EQ(ending_of("Bob"), "crashed: exited with code 3");
  run("Eve", "kill -SEGV $$\n");
  EXPECT_EQ(ending_of("Eve"), "crashed: ended by SIGSEGV");
  run("Ok", "");
  EXPECT_EQ(ending_of("Ok"), "completed");
}

TEST_F(Spawned, ProgramThatExitsAtOnceLeavesNoSession) {
  for (const auto* name : {"Bob", "Eve", "Mia"}) {
    box.run({"spawn", name, "true"});
    EXPECT_EQ(ending_of(name), "completed");
  }
  EXPECT_EQ(box.ok({"agents", "--names"}).find("Bob"), std::string::npos);
}

TEST_F(Spawned, KilledHostEndsItsSessionAfterTheGrace) {
  box.ok({"down", "--all"});
  box.set("AGENT_RELAY_SESSION_GRACE_MS", "500");
  box.ok({"up", "--no-http"});
  spawn("Bob", "wait");
  ASSERT_TRUE(hears("Bob", "wait"));
  ASSERT_EQ(::kill(host_of("Bob"), SIGKILL), 0);
  EXPECT_EQ(ending_of("Bob"), "crashed: the connection was lost and did not return");
}

TEST_F(Spawned, ExitDuringDaemonOutageIsReportedLater) {
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
  ASSERT_TRUE(hears("Mia", "wait"));
  spawn("Zoe", "wait");
  ASSERT_TRUE(hears("Zoe", "wait"));
  std::vector<pid_t> hosts;
  for (const auto* name : {"Ok", "Bob", "Eve", "Mia", "Zoe"}) hosts.push_back(host_of(name));
  box.kill_daemon();
  box.ok({"release", "Mia", "--reason", "enough"});
  ASSERT_EQ(::kill(host_of("Zoe"), SIGKILL), 0);
  box.write(box.project() + "/go", "");
  for (const pid_t host : hosts) ASSERT_TRUE(eventually([&] { return !is_running(host); }));
  const auto away_since = std::chrono::system_clock::now();
  ASSERT_TRUE(eventually([&] { return std::chrono::system_clock::now() - away_since > std::chrono::milliseconds{1}; }));
  box.ok({"up", "--no-http"});
  EXPECT_EQ(ending_of("Ok"), "completed");
  EXPECT_EQ(ending_of("Bob"), "crashed: exited with code 3");
  EXPECT_EQ(ending_of("Eve"), "crashed: ended by SIGSEGV");
  EXPECT_EQ(ending_of("Mia"), "released by human: enough");
  EXPECT_EQ(string_member(last_event("agent.released", "Mia"), "reason"), "enough");
  const auto when = std::chrono::duration_cast<std::chrono::milliseconds>(away_since.time_since_epoch()).count();
  for (const auto* name : {"Ok", "Bob", "Eve", "Mia"})
    EXPECT_LE(integer_member(last_event("session.ended", name), "endedAt").value_or(when + 1), when) << name;
  EXPECT_TRUE(last_event("session.ended", "Zoe").empty()) << "a killed host tells nothing; its grace runs";
  const auto leftovers = [&] {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator{box.workspace_directory() + "/hosts"})
      count += entry.path().extension() == ".ended";
    return count;
  };
  EXPECT_TRUE(eventually([&] { return leftovers() == 0; })) << leftovers();
  box.kill_daemon();
  box.ok({"up", "--no-http"});
  std::istringstream lines{box.ok({"events", "--types", "session.ended", "--json", "--limit", "100"})};
  std::size_t ends = 0;
  for (std::string line; std::getline(lines, line);) ++ends;
  EXPECT_EQ(ends, 4U) << "each is told once";
}

TEST_F(Spawned, FailedStartAndEndedAgentLeaveNoFolderInTheProject) {
  const auto folder = [&](const std::string& name) { return box.project() + "/.agent-relay/agents/" + name; };
  EXPECT_NE(box.run({"-n", "Mia", "no-such-program"}).code, 0);
  EXPECT_FALSE(fs::exists(folder("Mia")));
  EXPECT_NE(box.run({"-n", "Mia", "--model", "x", "true"}).code, 0);
  EXPECT_FALSE(fs::exists(folder("Mia")));
  EXPECT_NE(box.run({"spawn", "Mia", "no-such-program"}).code, 0);
  EXPECT_FALSE(fs::exists(folder("Mia")));

  spawn("Bob", "wait");
  ASSERT_TRUE(hears("Bob", "wait"));
  EXPECT_TRUE(fs::is_directory(folder("Bob") + "/outbox"));
  box.ok({"release", "Bob"});
  EXPECT_TRUE(eventually([&] { return !fs::exists(folder("Bob")); }));
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

TEST_F(Spawned, TaskMayComeFromStdin) {
  box.ok({"spawn", "Bob", program_of("Bob"), "-"}, "from a file\n");
  EXPECT_TRUE(hears("Bob", "from a file"));
  box.ok({"release", "Bob"});
}

TEST_F(Spawned, AgentSurvivesDaemonAndIsReleasedWithoutIt) {
  const auto pid = static_cast<pid_t>(*integer_member(spawn("Bob", "wait"), "pid"));
  ASSERT_TRUE(hears("Bob", "wait"));
  box.kill_daemon();
  EXPECT_TRUE(is_running(pid));
  EXPECT_EQ(box.ok({"release", "Bob"}), "released Bob\n");
  EXPECT_TRUE(eventually([&] { return !is_running(pid); }));
}

TEST_F(Spawned, NewDaemonFindsAgent) {
  spawn("Bob", "wait");
  ASSERT_TRUE(hears("Bob", "wait"));
  box.kill_daemon();
  box.ok({"up"});
  ASSERT_TRUE(is_connected("Bob"));
  box.ok({"send", "Bob", "welcome back", "--from", "ada"});
  EXPECT_TRUE(hears("Bob", "welcome back"));
  EXPECT_EQ(box.run({"spawn", "Bob", program_of("Bob")}).code, 5);
  box.ok({"release", "Bob"});
}

TEST_F(Spawned, ReusedPidOfDeadAgentDoesNotChangeAuthority) {
  box.ok({"spawn", "Old", program_of("Old")});
  box.ok({"spawn", "Mine", program_of("Mine")});
  ASSERT_TRUE(is_connected("Old"));
  ASSERT_TRUE(is_connected("Mine"));
  const auto record = record_of("Old");
  auto told = read(record);
  const auto host = host_of("Old");
  ASSERT_GT(host, 1);
  ::kill(host, SIGKILL);
  box.kill_daemon();
  told["pid"] = ::getpid();
  box.write(record, json::serialize(told));
  box.ok({"up"});
  ASSERT_TRUE(is_connected("Mine"));
  box.ok({"send", "Mine", "hello"});
  box.ok({"pause", "Mine"});
  const auto unpaused = box.run({"unpause", "Mine"});
  EXPECT_EQ(unpaused.code, 0) << unpaused.err;
  box.ok({"release", "Mine"});
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
  for (const auto& place : {side, side + "/sub"}) {
    box.ok({"-C", place, "spawn", "Bob", "sh " + script, "--from", "ada"});
    ASSERT_TRUE(eventually([&] { return fs::exists(place + "/seen"); })) << place;
    EXPECT_EQ(text_of(place + "/seen"), format("{0}\n{1}/.agent-relay/agents/Bob/outbox {2}\n", place, side, main));
    box.ok({"release", "Bob"});
  }
}

TEST_F(Spawned, NonUtf8DirectoryIsRefused) {
  const auto place = box.project() + "/caf\xe9";
  fs::create_directory(place);
  const auto refused = box.run({"-C", place, "spawn", "Bob", "cat", "--from", "ada"});
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
  EXPECT_EQ(string_member(read(record->path()), "cwd"), box.project() + "/inside");
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
  box.kill_daemon();
  box.write(box.home() + "/config.toml", "[spawn]\nby_agents = \"profiles\"\n");
  box.write(box.home() + "/profiles/cat.toml", "name = \"cat\"\ntitle = \"cat\"\ncommands = [\"cat\"]\n");
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

TEST_F(Spawned, SpawnedAgentSurvivesItsSpawner) {
  box.kill_daemon();
  box.write(box.home() + "/config.toml", "[spawn]\nby_agents = \"profiles\"\n");
  box.write(box.home() + "/profiles/cat.toml", "name = \"cat\"\ntitle = \"cat\"\ncommands = [\"cat\"]\n");
  Terminal carl{
      box,
      {"-n", "Carl", "sh", "-c", format("'{0}' up && '{0}' spawn Bob cat && echo all is up; exec cat", program())}};
  ASSERT_TRUE(carl.shows("all is up"));
  const auto daemon = box.daemon_pid(), bob = host_of("Bob");
  ASSERT_TRUE(is_running(daemon) && is_running(bob));
  ::kill(carl.pid(), SIGTERM);  // ends all that is Carl's before it ends itself
  carl.finish();
  EXPECT_TRUE(is_running(daemon));
  EXPECT_TRUE(is_running(bob));
  EXPECT_TRUE(is_connected("Bob"));
  box.ok({"release", "Bob"});
}

TEST_F(Spawned, DaemonEnvironmentIsNotInherited) {
  box.kill_daemon();
  box.set("TMUX", "/tmp/elsewhere,1,2");
  box.set("CLAUDECODE", "1");
  box.set("AGENT_RELAY_PTY", "another's");
  box.set("KEPT", "yes");
  box.ok({"up"});
  const auto script = box.write(box.project() + "/agent.sh", "env > seen.new; mv seen.new seen; exec cat\n");
  box.ok({"spawn", "Bob", "sh " + script, "a task for Bob alone"});
  const auto seen = box.project() + "/seen";
  ASSERT_TRUE(eventually([&] { return fs::exists(seen); }));
  const auto environment = "\n" + text_of(seen);
  for (const auto* there : {"\nTERM=xterm-256color\n", "\nKEPT=yes\n", "\nAGENT_RELAY_NAME=Bob\n"})
    EXPECT_NE(environment.find(there), std::string::npos) << there << environment;
  for (const auto* absent : {"\nTMUX=", "\nCLAUDECODE=", "another's", "\nAGENT_RELAY_SPAWN_", "a task for Bob alone"})
    EXPECT_EQ(environment.find(absent), std::string::npos) << absent << environment;
  const auto words = text_of(format("/proc/{}/cmdline", host_of("Bob")));
  EXPECT_NE(words.find("--name=Bob"), std::string::npos) << words;
  EXPECT_EQ(words.find("a task"), std::string::npos) << words;
  box.ok({"release", "Bob"});
}

TEST_F(Spawned, ProgramOnCallerPathIsFound) {
  const auto place = box.project() + "/later";
  fs::create_directories(place);
  const auto program = box.write(place + "/claude-of-today", "#!/bin/sh\nexec cat\n");
  ASSERT_EQ(::chmod(program.c_str(), 0700), 0);
  EXPECT_EQ(box.run({"spawn", "Bob", "claude-of-today"}).code, 1);
  box.set("PATH", place + ":/usr/bin:/bin");  // installed after `up`
  box.ok({"spawn", "Bob", "claude-of-today"});
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
  EXPECT_EQ(text_of(seen), format("{} {}\n", secret.size(), box.project()));
  ASSERT_TRUE(is_connected("Bob"));
  std::error_code none;
  for (const auto& entry : fs::recursive_directory_iterator{box.home(), none})
    if (entry.is_regular_file(none)) {
      EXPECT_EQ(text_of(entry.path()).find(secret), std::string::npos) << entry.path();
    }
  for (const auto& entry : fs::directory_iterator{"/proc", none})
    EXPECT_EQ(text_of(entry.path().string() + "/cmdline").find(secret), std::string::npos) << entry.path();
  box.ok({"release", "Bob"});
}

TEST_F(Spawned, RunsInCallerDirectory) {
  fs::create_directory(box.project() + "/inside");
  const auto script = box.write(box.project() + "/agent.sh", "pwd > seen.new; mv seen.new seen; exec cat\n");
  const auto command =
      format("cd '{0}/inside' && AGENT_RELAY_HOME='{1}' '{2}' spawn Bob 'sh {3}' --from ada >'{0}/said' 2>&1",
             box.project(), box.home(), program(), script);
  ASSERT_EQ(std::system(command.c_str()), 0) << text_of(box.project() + "/said");
  const auto seen = box.project() + "/inside/seen";
  ASSERT_TRUE(eventually([&] { return fs::exists(seen); }));
  EXPECT_EQ(text_of(seen), box.project() + "/inside\n");
  box.ok({"release", "Bob"});
}

TEST_F(Spawned, NameIsFreeAfterRelease) {
  for (int i = 0; i < 20; ++i) {
    const auto again = box.run({"spawn", "Bob", "cat"});
    ASSERT_EQ(again.code, 0) << i << ": " << again.err;
    ASSERT_EQ(box.ok({"release", "Bob"}), "released Bob\n");
  }
}

/// As published clients speak: through the daemon, not through the door.
struct SpawnedByFrames : Spawned {
  cli::DaemonConnection daemon = connect();
  SpawnedByFrames() { EXPECT_TRUE(daemon.say_hello(box.system_token())); }

  cli::DaemonConnection connect() {
    return cli::DaemonConnection::open(*string_member(box.ok_json({"status"}), "socket")).value();
  }

  json::object ask(protocol::MessageType type, const json::object& payload) {
    const auto answer = daemon.request(type, json::serialize(payload), std::chrono::seconds{20});
    EXPECT_TRUE(answer) << answer.error().message();
    return answer ? parse_json_object(*answer).value() : json::object{};
  }
  static bool succeeded(const json::object& answer) { return bool_member(answer, "success").value_or(false); }
};

TEST_F(SpawnedByFrames, NameIsFreeAfterRelease) {
  for (int i = 0; i < 20; ++i) {
    const auto started = ask(protocol::MessageType::Spawn, {{"name", "Bob"}, {"cli", "cat"}});
    ASSERT_TRUE(succeeded(started)) << i << ": " << json::serialize(started);
    const auto released = ask(protocol::MessageType::Release, {{"name", "Bob"}});
    ASSERT_TRUE(succeeded(released)) << i << ": " << json::serialize(released);
  }
}

TEST_F(SpawnedByFrames, LargestTaskArrives) {
  const auto script = box.write(box.project() + "/agent.sh", "exec cat > got\n");
  ASSERT_TRUE(succeeded(ask(protocol::MessageType::Spawn, {{"name", "Bob"}, {"cli", "sh " + script}})));
  std::string much;
  for (int i = 0; much.size() + 16 < protocol::kMaxInputBytes; ++i) much += format("\tü {}\n", i);
  EXPECT_FALSE(succeeded(ask(protocol::MessageType::SendInput, {{"name", "bob"}, {"data", much}})));
  const auto typed = ask(protocol::MessageType::SendInput, {{"name", "Bob"}, {"data", much}});
  EXPECT_TRUE(succeeded(typed)) << json::serialize(typed);
  EXPECT_TRUE(eventually([&] { return text_of(box.project() + "/got") == much; }));
  EXPECT_TRUE(succeeded(ask(protocol::MessageType::Release, {{"name", "Bob"}})));
}

TEST_F(SpawnedByFrames, NameInGracePeriodIsRefused) {
  {
    auto owner = connect();
    const auto hello = R"({"agent":"Bob","capabilities":{"send_ack":true},"session":{"claim_token":"another's"}})";
    ASSERT_TRUE(owner.send({.type = protocol::MessageType::Hello, .id = {}, .payload = hello}));
    ASSERT_TRUE(owner.receive(cli::in(cli::kResponseTimeout)));  // WELCOME
  }
  json::object refused;
  ASSERT_TRUE(eventually([&] {  // as soon as the daemon has seen it go
    refused = ask(protocol::MessageType::Spawn, {{"name", "Bob"}, {"cli", "cat"}, {"task", "go"}});
    return string_member(refused, "error").value_or("").find("is connected already") == std::string::npos;
  }));
  EXPECT_FALSE(succeeded(refused));
  EXPECT_NE(string_member(refused, "error").value_or("").find("belongs to somebody else"), std::string::npos)
      << json::serialize(refused);
  EXPECT_TRUE(eventually([&] { return host_of("Bob") == 0; }));
}

TEST_F(SpawnedByFrames, UserAgentIsNotReleasedByOthers) {
  Terminal bob{box, {"-n", "Bob", SCRIPTED_AGENT, "--status", "--log", log_of("Bob")}};
  ASSERT_TRUE(is_connected("Bob") && bob.shows("Scripted agent"));
  for (const auto type : {protocol::MessageType::Release, protocol::MessageType::SendInput}) {
    const auto refused = ask(type, {{"name", "Bob"}, {"data", "x"}});
    EXPECT_FALSE(succeeded(refused));
    EXPECT_NE(string_member(refused, "error").value_or("").find("not started by SPAWN"), std::string::npos);
  }
}

TEST_F(Spawned, AgentInUserTerminalIsNotReleased) {
  Terminal bob{box, {"-n", "Bob", SCRIPTED_AGENT, "--status", "--log", log_of("Bob")}};
  ASSERT_TRUE(is_connected("Bob") && bob.shows("Scripted agent"));
  const auto refused = box.run({"release", "Bob"});
  EXPECT_EQ(refused.code, 5);
  EXPECT_NE(refused.err.find("exit it there"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace relay::cli_tests
