#include "daemon/local_host_manager.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/format.h"
#include "base/json.h"
#include "net/testing/loop_driver.h"
#include "net/testing/temporary_directory.h"
#include "net/unix_network.h"
#include "protocol/limits.h"
#include "protocol/send.h"

namespace relay::daemon {
namespace {

namespace fs = std::filesystem;
using net::testing::Recorder;
using net::testing::run_until;
using net::testing::TemporaryDirectory;

/// Starts nothing: remembers what it was asked, and says what the test says.
struct FakeLauncher final : HostLauncher {
  void start(HostCommand command, Started done) override {
    commands.push_back(std::move(command));
    waiting.push_back(std::move(done));
  }
  std::vector<HostCommand> commands;
  std::vector<Started> waiting;
};

/// Does nothing until it is ended.
struct Sleeper {
  Sleeper() : pid{::fork()} {
    if (pid == 0)
      for (;;) ::pause();
  }
  ~Sleeper() { end(); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  void end() {
    if (pid <= 0) return;
    ::kill(pid, SIGKILL);
    ::waitpid(std::exchange(pid, -1), nullptr, 0);
  }
  pid_t pid;
};

/// A door as docs/spec/host.md describes it, with nobody behind it but the test.
struct FakeHost {
  FakeHost(net::Network& network, const std::string& directory, host::HostRecord what)
      : FakeHost{network, directory, std::make_unique<Sleeper>(), std::move(what)} {}
  FakeHost(net::Network& network, const std::string& directory, std::unique_ptr<Sleeper> body, host::HostRecord what)
      : process{std::move(body)},
        record{host::RecordFile::write(directory, (what.pid = process->pid, what)).value()},
        door{network.listen(what.socket, [this](auto stream) { accept(std::move(stream)); }).value()} {}

  void accept(std::unique_ptr<net::Stream> stream) {
    visitors.push_back(std::make_unique<Recorder>(std::move(stream)));
    Recorder& visitor = *visitors.back();
    visitor.when_read = [this, &visitor, reader = std::make_shared<protocol::FrameReader>()] {
      reader->push(std::exchange(visitor.received, {}));
      while (const auto frame = reader->next().value()) {
        asked.emplace_back(*frame);
        if (when_asked) when_asked();
        if (answer.empty()) continue;
        std::string bytes;
        protocol::append_frame(bytes, protocol::HeaderStyle::Four, answer);
        visitor.stream->write(bytes);
      }
    };
  }
  void die() {
    visitors.clear();
    door.reset();
    process->end();
  }

  std::unique_ptr<Sleeper> process;
  host::RecordFile record;
  std::unique_ptr<net::Listener> door;
  std::vector<std::unique_ptr<Recorder>> visitors;
  std::vector<std::string> asked;
  std::function<void()> when_asked;
  std::string answer = R"({"method":"x","ok":true})";
};

struct HostKeeperTest : ::testing::Test {
  TemporaryDirectory place;
  net::AsioLoop loop;
  net::UnixNetwork network{loop};
  FakeLauncher launcher;
  config::Home home;
  config::Project project;
  std::unique_ptr<LocalHostManager> keeper;
  std::optional<Result<void>> done;
  std::optional<Result<std::int32_t>> started;

  void SetUp() override {
    home.root = place.file("home");
    project.root = place.file("project");
    project.hosts = place.file("hosts");
    fs::create_directories(project.root + "/inside");
    fs::create_directory(project.hosts);
    keeper = std::make_unique<LocalHostManager>(home, project, loop, network, launcher);
  }

  host::HostRecord record_of(const std::string& name) {
    host::HostRecord record;
    record.id = name;
    record.name = name;
    record.cli = "claude";
    record.socket = project.hosts + "/" + name + ".sock";
    record.spawned = true;
    record.spawner = "Alice";
    record.started_at = 5;
    return record;
  }
  std::unique_ptr<FakeHost> host(const std::string& name) {
    return std::make_unique<FakeHost>(network, project.hosts, record_of(name));
  }

  void start(broker::HostSpec order) {
    started.reset();
    keeper->start(std::move(order), [this](Result<std::int32_t> pid) { started = std::move(pid); });
    EXPECT_FALSE(started) << "called back from inside the call";
  }
  std::string refusal_of(broker::HostSpec order) {
    start(std::move(order));
    EXPECT_TRUE(run_until(loop, [&] { return started.has_value(); }));
    return *started ? "" : started->error().message();
  }
  static broker::HostSpec order(const std::string& name) {
    broker::HostSpec wanted;
    wanted.name = name;
    wanted.words = {"claude"};
    return wanted;
  }

  HostManager::Done remember() {
    done.reset();
    return [this](Result<void> outcome) { done = std::move(outcome); };
  }
  Result<void> outcome() {
    EXPECT_TRUE(run_until(loop, [&] { return done.has_value(); }));
    return *done;
  }
  std::vector<broker::Worker> workers() {
    std::optional<std::vector<broker::Worker>> heard;
    keeper->list([&](Result<std::vector<broker::Worker>> listed) { heard = listed.value(); });
    EXPECT_TRUE(run_until(loop, [&] { return heard.has_value(); }));
    return *heard;
  }
};

TEST_F(HostKeeperTest, OrdersAHostInTheWordsItUnderstands) {
  auto wanted = order("Worker");
  wanted.words = {"claude", "--model", "x y"};
  wanted.spawner = "Alice";
  wanted.team = "blue";
  wanted.model = "large";
  wanted.task = "--fix it";
  ::setenv("AGENT_RELAY_PTY", "mark", 1);  // as in a daemon that an agent started
  start(wanted);
  ::unsetenv("AGENT_RELAY_PTY");
  ASSERT_EQ(launcher.commands.size(), 1u);
  const auto& command = launcher.commands[0];
  EXPECT_EQ(command.arguments,
            (std::vector<std::string>{"run", "--detached", "--spawned", "--ready-fd=3", "--name=Worker",
                                      "--model=large", "--", "claude", "--model", "x y"}));
  EXPECT_EQ(command.directory, project.root);
  EXPECT_EQ(std::ranges::count(command.environment, "AGENT_RELAY_HOME=" + home.root), 1);
  EXPECT_EQ(std::ranges::count(command.environment, "AGENT_RELAY_PROJECT=" + project.root), 1);
  EXPECT_EQ(std::ranges::count(command.environment, "AGENT_RELAY_SPAWN_TASK=--fix it"), 1);
  EXPECT_EQ(std::ranges::count(command.environment, "AGENT_RELAY_SPAWN_SPAWNER=Alice"), 1);
  EXPECT_EQ(std::ranges::count(command.environment, "AGENT_RELAY_SPAWN_TEAM=blue"), 1);
  EXPECT_EQ(std::ranges::count(command.environment, "AGENT_RELAY_PTY=mark"), 0);
  launcher.waiting[0](4711);
  ASSERT_TRUE(started && *started);
  EXPECT_EQ(**started, 4711);
}

TEST_F(HostKeeperTest, StartsInsideTheProjectOrWhereItIsTold) {
  auto wanted = order("Worker");
  wanted.directory = "inside";
  start(wanted);
  EXPECT_EQ(launcher.commands.at(0).directory, project.root + "/inside");
  wanted.directory = "nowhere";
  EXPECT_NE(refusal_of(wanted).find("no such directory"), std::string::npos);
}

TEST_F(HostKeeperTest, AnOrderThatMustStayInsideTheProjectLeavesItByNoLink) {
  auto wanted = order("Worker");
  wanted.inside_project = true;
  fs::create_directory_symlink("/", project.root + "/outlink");
  for (const auto* outside : {"/tmp", "outlink", "outlink/tmp", "..", "inside/../.."}) {
    wanted.directory = outside;
    EXPECT_NE(refusal_of(wanted).find("inside the project"), std::string::npos) << outside;
  }
  for (const auto& inside : {std::string{}, std::string{"inside"}, project.root + "/inside"}) {
    wanted.directory = inside;
    start(wanted);
    EXPECT_EQ(launcher.commands.back().directory, inside.empty() ? project.root : project.root + "/inside");
  }
}

TEST_F(HostKeeperTest, NamesTheAgentThatCouldNotBeStarted) {
  start(order("Worker"));
  launcher.waiting[0](fail("there is no claude here"));
  EXPECT_EQ(started->error().message(), "cannot start Worker: there is no claude here");
}

TEST_F(HostKeeperTest, RefusesANameThatRunsAndForgetsTheDead) {
  auto worker = host("Worker");
  EXPECT_NE(refusal_of(order("Worker")).find(format("runs already (pid {})", worker->process->pid)), std::string::npos);
  worker->die();
  start(order("Worker"));
  EXPECT_EQ(launcher.commands.size(), 1u);
  EXPECT_FALSE(fs::exists(project.hosts + "/Worker.json"));
}

TEST_F(HostKeeperTest, ANumberThatSomebodyElseGotDoesNotHoldAName) {
  auto worker = host("Worker");
  worker->door.reset();  // and its process is another one now
  start(order("Worker"));
  EXPECT_EQ(launcher.commands.size(), 1u);
}

TEST_F(HostKeeperTest, StartsNoMoreThanItMayKeep) {
  for (std::size_t i = 0; i < kMaxHosts; ++i) start(order(format("Worker{}", i)));
  EXPECT_NE(refusal_of(order("OneMore")).find("release one first"), std::string::npos);
  launcher.waiting[0](fail("no"));
  start(order("OneMore"));
  EXPECT_EQ(launcher.commands.size(), kMaxHosts + 1);
}

TEST_F(HostKeeperTest, AReleaseIsDoneWhenTheAgentIsGone) {
  const auto worker = host("Worker");
  keeper->release("Worker", {.by = "api", .reason = "no longer needed"}, remember());
  ASSERT_TRUE(run_until(loop, [&] { return !worker->asked.empty(); }));
  const auto request = *parse_json_object(worker->asked[0]);
  EXPECT_EQ(string_member(request, "method"), "release");
  EXPECT_EQ(string_member(request, "reason"), "no longer needed");
  EXPECT_EQ(string_member(request, "by"), "api");
  loop.post([&] { loop.stop(); });
  loop.run();
  EXPECT_FALSE(done);
  worker->die();
  EXPECT_TRUE(outcome());
}

TEST_F(HostKeeperTest, AnAgentEndsOnlyItselfAndThoseItStarted) {
  auto record = record_of("Worker");
  record.spawner = "Alice";
  FakeHost worker{network, project.hosts, record};
  keeper->release("Worker", {.by = "Eve", .own_only = true}, remember());
  EXPECT_NE(outcome().error().message().find("started by Alice"), std::string::npos);
  EXPECT_TRUE(worker.asked.empty());
  for (const auto* by : {"Alice", "Worker"}) {
    worker.asked.clear();
    keeper->release("Worker", {.by = by, .own_only = true}, remember());
    ASSERT_TRUE(run_until(loop, [&] { return !worker.asked.empty(); })) << by;
  }
}

TEST_F(HostKeeperTest, OneThatHangsUpWithoutAnAnswerIsNotGone) {
  const auto worker = host("Worker");
  worker->answer.clear();
  keeper->release("Worker", {}, remember());
  ASSERT_TRUE(run_until(loop, [&] { return !worker->asked.empty(); }));
  worker->visitors.clear();
  EXPECT_NE(outcome().error().message().find("still there"), std::string::npos);
}

TEST_F(HostKeeperTest, OneThatDiesWithoutAnAnswerIsGone) {
  const auto worker = host("Worker");
  worker->answer.clear();
  keeper->release("Worker", {}, remember());
  ASSERT_TRUE(run_until(loop, [&] { return !worker->asked.empty(); }));
  worker->die();
  EXPECT_TRUE(outcome());
}

TEST_F(HostKeeperTest, ARefusalAtTheDoorIsTold) {
  const auto worker = host("Worker");
  worker->answer = R"({"method":"release","ok":false,"error":"it is asleep"})";
  keeper->release("Worker", {}, remember());
  EXPECT_EQ(outcome().error().message(), "it is asleep");
}

TEST_F(HostKeeperTest, NobodyToReleaseIsASentence) {
  keeper->release("Ghost", {}, remember());
  EXPECT_NE(outcome().error().message().find("Ghost"), std::string::npos);
}

TEST_F(HostKeeperTest, AnAgentInAPersonsTerminalIsLeftToThatPerson) {
  auto record = record_of("Own");
  record.spawned = false;
  FakeHost own{network, project.hosts, record};
  keeper->release("Own", {}, remember());
  EXPECT_FALSE(outcome());
  keeper->type("Own", "y", remember());
  EXPECT_FALSE(outcome());
  EXPECT_TRUE(own.asked.empty());
  EXPECT_TRUE(workers().empty());
}

TEST_F(HostKeeperTest, WhatAnAgentAsksIsAnsweredAtItsDoorWhoeverStartedIt) {
  auto record = record_of("Bob");
  record.spawned = false;
  FakeHost bob{network, project.hosts, record};
  keeper->answer({{}, "Bob", "r1", {broker::PromptAnswer::Decision::Timeout, "too late", {"a", "b"}}, "policy"},
                 remember());
  EXPECT_TRUE(outcome());
  EXPECT_EQ(
      bob.asked,
      std::vector<std::string>{
          R"({"method":"answer","prompt":"r1","decision":"timeout","message":"too late","by":"policy","answers":["a","b"]})"});
}

TEST_F(HostKeeperTest, WhyAnAnswerWasNotTakenHasACode) {
  const auto bob = host("Bob");
  bob->answer = R"({"method":"answer","ok":false,"error":"that prompt is not open any more","code":"STALE"})";
  keeper->answer({{}, "Bob", "r1", {}, "human"}, remember());
  const auto stale = outcome();
  ASSERT_FALSE(stale);
  EXPECT_EQ(protocol::nack_code_of(stale.error()), protocol::NackCode::Stale);
  EXPECT_EQ(stale.error().message(), "that prompt is not open any more");
  keeper->answer({{}, "Carol", "r1", {}, "human"}, remember());
  const auto nobody = outcome();
  ASSERT_FALSE(nobody);
  EXPECT_EQ(protocol::nack_code_of(nobody.error()), protocol::NackCode::Unsupported);
}

TEST_F(HostKeeperTest, KeysAreTypedInTheirOrder) {
  const auto worker = host("Worker");
  int typed = 0;
  for (const auto* keys : {"a", "\x1b[A", "c", "d"}) {
    keeper->type("Worker", keys, [&](Result<void> outcome) {
      EXPECT_TRUE(outcome);
      ++typed;
    });
  }
  ASSERT_TRUE(run_until(loop, [&] { return typed == 4; }));
  std::string all;
  for (const auto& asked : worker->asked) all += *string_member(*parse_json_object(asked), "data");
  EXPECT_EQ(all, "a\x1b[Acd");
}

TEST_F(HostKeeperTest, OneKeyThatFailsDoesNotHoldUpTheNext) {
  auto worker = host("Worker");
  worker->answer.clear();
  int told = 0;
  bool failed = false;
  keeper->type("Worker", "a", [&](Result<void> outcome) {
    failed = !outcome;
    ++told;
  });
  keeper->type("Worker", "b", [&](Result<void>) { ++told; });
  ASSERT_TRUE(run_until(loop, [&] { return worker->asked.size() == 1; }));
  worker->visitors.clear();  // it hangs up on the first
  worker->answer = R"({"method":"input","ok":true})";
  ASSERT_TRUE(run_until(loop, [&] { return told == 2; }));
  EXPECT_TRUE(failed);
}

TEST_F(HostKeeperTest, MoreThanADoorTakesIsTypedInParts) {
  const auto worker = host("Worker");
  std::string much(30'000, '\x01');
  while (much.size() + 2 <= protocol::kMaxInputBytes) much += "ü";
  keeper->type("Worker", much, remember());
  keeper->type("Worker", "after", [](Result<void>) {});
  EXPECT_TRUE(outcome());
  ASSERT_TRUE(run_until(loop, [&] { return worker->asked.back().find("after") != std::string::npos; }));
  std::string all;
  for (const auto& asked : worker->asked) {
    EXPECT_LE(asked.size(), 64u * 1024);
    all += *string_member(*parse_json_object(asked), "data");
  }
  EXPECT_EQ(all, much + "after");
}

TEST_F(HostKeeperTest, ItIsSaidHowMuchWasTypedBeforeItWentWrong) {
  const auto worker = host("Worker");
  keeper->type("Worker", std::string(20'000, 'x'), remember());
  worker->when_asked = [&] {
    if (worker->asked.size() == 2) worker->answer = R"({"method":"input","ok":false,"error":"it is full"})";
  };
  EXPECT_EQ(outcome().error().message(), "it is full; 10000 of 20000 bytes were typed before");
}

TEST_F(HostKeeperTest, NamesAreExact) {
  const auto worker = host("Worker");
  keeper->release("worker", {}, remember());
  EXPECT_NE(outcome().error().message().find("'worker'"), std::string::npos);
  keeper->type("WORKER", "y", remember());
  EXPECT_FALSE(outcome());
  EXPECT_TRUE(worker->asked.empty());
}

TEST_F(HostKeeperTest, OnlyTheDoorOfTheOneThatIsMeantIsKnockedAt) {
  const auto worker = host("Worker"), other = host("Other");
  keeper->type("Worker", "y", remember());
  EXPECT_TRUE(outcome());
  EXPECT_EQ(workers().size(), 2u);
  start(order("Third"));
  EXPECT_EQ(worker->visitors.size(), 1u);
  EXPECT_TRUE(other->visitors.empty());
}

TEST_F(HostKeeperTest, ListsThoseThatRunForOthers) {
  const auto worker = host("Worker");
  const auto listed = workers();
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].name, "Worker");
  EXPECT_EQ(listed[0].cli, "claude");
  EXPECT_EQ(listed[0].spawner, "Alice");
  EXPECT_EQ(listed[0].started, 5);
  EXPECT_EQ(listed[0].pid, worker->process->pid);
  worker->die();
  EXPECT_TRUE(workers().empty());
}

TEST_F(HostKeeperTest, OneThatWasKilledIsNotListedThoughNobodyAskedHowItEnded) {
  const auto worker = host("Worker");
  worker->door.reset();
  ::kill(worker->process->pid, SIGKILL);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(worker->process->pid), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(workers().empty());
}

TEST_F(HostKeeperTest, CallsNobodyOnceItIsGone) {
  const auto worker = host("Worker");
  start(order("Another"));
  keeper->release("Worker", {}, remember());
  keeper->release("Ghost", {}, remember());
  keeper.reset();
  launcher.waiting[0](1);
  loop.post([&] { loop.stop(); });
  loop.run();
  EXPECT_FALSE(done);
  EXPECT_FALSE(started);
}

}  // namespace
}  // namespace relay::daemon
