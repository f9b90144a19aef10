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

/// Starts nothing: records commands; the test reports their results.
struct FakeLauncher final : HostLauncher {
  void start(HostCommand command, Started done) override {
    commands.push_back(std::move(command));
    callbacks.push_back(std::move(done));
  }
  std::vector<HostCommand> commands;
  std::vector<Started> callbacks;
};

/// A process that sleeps until it is killed.
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

/// A host socket as docs/spec/host.md describes it, served by the test.
struct FakeHost {
  FakeHost(net::Network& network, const std::string& directory, host::HostRecord fields)
      : FakeHost{network, directory, std::make_unique<Sleeper>(), std::move(fields)} {}
  FakeHost(net::Network& network, const std::string& directory, std::unique_ptr<Sleeper> body, host::HostRecord fields)
      : process{std::move(body)},
        record{host::RecordFile::write(directory, (fields.host_pid = process->pid, fields)).value()},
        socket{network.listen(fields.socket, [this](auto stream) { accept(std::move(stream)); }).value()} {}

  void accept(std::unique_ptr<net::Stream> stream) {
    clients.push_back(std::make_unique<Recorder>(std::move(stream)));
    Recorder& client = *clients.back();
    client.when_read = [this, &client, reader = std::make_shared<protocol::FrameReader>()] {
      reader->push(std::exchange(client.received, {}));
      while (const auto frame = reader->next().value()) {
        requests.emplace_back(*frame);
        if (on_request) on_request();
        if (response.empty()) continue;
        std::string bytes;
        protocol::append_frame(bytes, protocol::HeaderStyle::Four, response);
        client.stream->write(bytes);
      }
    };
  }
  void die() {
    clients.clear();
    socket.reset();
    process->end();
  }

  std::unique_ptr<Sleeper> process;
  host::RecordFile record;
  std::unique_ptr<net::Listener> socket;
  std::vector<std::unique_ptr<Recorder>> clients;
  std::vector<std::string> requests;
  std::function<void()> on_request;
  std::string response = R"({"method":"x","ok":true})";
};

struct LocalHostManagerTest : ::testing::Test {
  TemporaryDirectory place;
  net::AsioLoop loop;
  net::UnixNetwork network{loop};
  FakeLauncher launcher;
  config::Home home;
  config::Project project;
  std::unique_ptr<LocalHostManager> manager;
  std::optional<Result<void>> done;
  std::optional<Result<std::int32_t>> started;

  void SetUp() override {
    home.root = place.file("home");
    project.root = place.file("project");
    project.hosts = place.file("hosts");
    fs::create_directories(project.root + "/inside");
    fs::create_directory(project.hosts);
    manager = std::make_unique<LocalHostManager>(home, project, loop, network, launcher);
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

  void start(broker::HostSpec spec) {
    started.reset();
    manager->start(std::move(spec), [this](Result<std::int32_t> pid) { started = std::move(pid); });
    EXPECT_FALSE(started) << "called back inside the call";
  }
  std::string start_error_of(broker::HostSpec spec) {
    start(std::move(spec));
    EXPECT_TRUE(run_until(loop, [&] { return started.has_value(); }));
    return *started ? "" : started->error().message();
  }
  static broker::HostSpec spec_for(const std::string& name) {
    broker::HostSpec spec;
    spec.name = name;
    spec.argv = {"claude"};
    return spec;
  }

  HostManager::Done record_outcome() {
    done.reset();
    return [this](Result<void> outcome) { done = std::move(outcome); };
  }
  Result<void> outcome() {
    EXPECT_TRUE(run_until(loop, [&] { return done.has_value(); }));
    return *done;
  }
  std::vector<broker::Worker> workers() {
    std::optional<std::vector<broker::Worker>> workers;
    manager->list([&](Result<std::vector<broker::Worker>> listed) { workers = listed.value(); });
    EXPECT_TRUE(run_until(loop, [&] { return workers.has_value(); }));
    return *workers;
  }
};

TEST_F(LocalHostManagerTest, BuildsTheCommandLineAndEnvironmentOfAHost) {
  auto spec = spec_for("Worker");
  spec.argv = {"claude", "--model", "x y"};
  spec.spawner = "Alice";
  spec.team = "blue";
  spec.model = "large";
  spec.task = "--fix it";
  ::setenv("AGENT_RELAY_PTY", "mark", 1);  // as in a daemon that an agent started
  start(spec);
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
  launcher.callbacks[0](4711);
  ASSERT_TRUE(started && *started);
  EXPECT_EQ(**started, 4711);
}

TEST_F(LocalHostManagerTest, StartsInTheProjectOrTheGivenDirectory) {
  auto spec = spec_for("Worker");
  spec.directory = "inside";
  start(spec);
  EXPECT_EQ(launcher.commands.at(0).directory, project.root + "/inside");
  spec.directory = "nowhere";
  EXPECT_NE(start_error_of(spec).find("no such directory"), std::string::npos);
}

TEST_F(LocalHostManagerTest, RefusesDirectoriesOutsideTheProjectAndBehindLinks) {
  auto spec = spec_for("Worker");
  spec.inside_project = true;
  fs::create_directory_symlink("/", project.root + "/outlink");
  for (const auto* outside : {"/tmp", "outlink", "outlink/tmp", "..", "inside/../.."}) {
    spec.directory = outside;
    EXPECT_NE(start_error_of(spec).find("inside the project"), std::string::npos) << outside;
  }
  for (const auto& inside : {std::string{}, std::string{"inside"}, project.root + "/inside"}) {
    spec.directory = inside;
    start(spec);
    EXPECT_EQ(launcher.commands.back().directory, inside.empty() ? project.root : project.root + "/inside");
  }
}

TEST_F(LocalHostManagerTest, NamesTheAgentThatFailedToStart) {
  start(spec_for("Worker"));
  launcher.callbacks[0](fail("there is no claude here"));
  EXPECT_EQ(started->error().message(), "cannot start Worker: there is no claude here");
}

TEST_F(LocalHostManagerTest, RefusesANameInUseAndRemovesStaleRecords) {
  auto worker = host("Worker");
  EXPECT_NE(start_error_of(spec_for("Worker")).find(format("runs already (pid {})", worker->process->pid)),
            std::string::npos);
  worker->die();
  start(spec_for("Worker"));
  EXPECT_EQ(launcher.commands.size(), 1u);
  EXPECT_FALSE(fs::exists(project.hosts + "/Worker.json"));
}

TEST_F(LocalHostManagerTest, AReusedPidDoesNotReserveAName) {
  auto worker = host("Worker");
  worker->socket.reset();  // as if another process had its pid
  start(spec_for("Worker"));
  EXPECT_EQ(launcher.commands.size(), 1u);
}

TEST_F(LocalHostManagerTest, LimitsTheNumberOfHosts) {
  for (std::size_t i = 0; i < kMaxHosts; ++i) start(spec_for(format("Worker{}", i)));
  EXPECT_NE(start_error_of(spec_for("OneMore")).find("release one first"), std::string::npos);
  launcher.callbacks[0](fail("no"));
  start(spec_for("OneMore"));
  EXPECT_EQ(launcher.commands.size(), kMaxHosts + 1);
}

TEST_F(LocalHostManagerTest, AReleaseIsDoneWhenTheHostHasEnded) {
  const auto worker = host("Worker");
  manager->release("Worker", {.by = "api", .reason = "no longer needed"}, record_outcome());
  ASSERT_TRUE(run_until(loop, [&] { return !worker->requests.empty(); }));
  const auto request = *parse_json_object(worker->requests[0]);
  EXPECT_EQ(string_member(request, "method"), "release");
  EXPECT_EQ(string_member(request, "reason"), "no longer needed");
  EXPECT_EQ(string_member(request, "by"), "api");
  loop.post([&] { loop.stop(); });
  loop.run();
  EXPECT_FALSE(done);
  worker->die();
  EXPECT_TRUE(outcome());
}

TEST_F(LocalHostManagerTest, AnAgentReleasesOnlyItselfAndItsOwnWorkers) {
  auto record = record_of("Worker");
  record.spawner = "Alice";
  FakeHost worker{network, project.hosts, record};
  manager->release("Worker", {.by = "Eve", .own_only = true}, record_outcome());
  EXPECT_NE(outcome().error().message().find("started by Alice"), std::string::npos);
  EXPECT_TRUE(worker.requests.empty());
  for (const auto* by : {"Alice", "Worker"}) {
    worker.requests.clear();
    manager->release("Worker", {.by = by, .own_only = true}, record_outcome());
    ASSERT_TRUE(run_until(loop, [&] { return !worker.requests.empty(); })) << by;
  }
}

TEST_F(LocalHostManagerTest, AHostThatDisconnectsWithoutAResponseHasNotEnded) {
  const auto worker = host("Worker");
  worker->response.clear();
  manager->release("Worker", {}, record_outcome());
  ASSERT_TRUE(run_until(loop, [&] { return !worker->requests.empty(); }));
  worker->clients.clear();
  EXPECT_NE(outcome().error().message().find("still running"), std::string::npos);
}

TEST_F(LocalHostManagerTest, AHostThatDiesWithoutAResponseHasEnded) {
  const auto worker = host("Worker");
  worker->response.clear();
  manager->release("Worker", {}, record_outcome());
  ASSERT_TRUE(run_until(loop, [&] { return !worker->requests.empty(); }));
  worker->die();
  EXPECT_TRUE(outcome());
}

TEST_F(LocalHostManagerTest, ReportsTheErrorOfTheHost) {
  const auto worker = host("Worker");
  worker->response = R"({"method":"release","ok":false,"error":"it is asleep"})";
  manager->release("Worker", {}, record_outcome());
  EXPECT_EQ(outcome().error().message(), "it is asleep");
}

TEST_F(LocalHostManagerTest, NamesTheUnknownAgentOfARelease) {
  manager->release("Ghost", {}, record_outcome());
  EXPECT_NE(outcome().error().message().find("Ghost"), std::string::npos);
}

TEST_F(LocalHostManagerTest, DoesNotControlAgentsInTheUsersTerminal) {
  auto record = record_of("Own");
  record.spawned = false;
  FakeHost own{network, project.hosts, record};
  manager->release("Own", {}, record_outcome());
  EXPECT_FALSE(outcome());
  manager->type("Own", "y", record_outcome());
  EXPECT_FALSE(outcome());
  EXPECT_TRUE(own.requests.empty());
  EXPECT_TRUE(workers().empty());
}

TEST_F(LocalHostManagerTest, AnswersPromptsOfAgentsInAnyHost) {
  auto record = record_of("Bob");
  record.spawned = false;
  FakeHost bob{network, project.hosts, record};
  manager->answer({{}, "Bob", "r1", {broker::PromptAnswer::Decision::Timeout, "too late", {"a", "b"}}, "policy"},
                  record_outcome());
  EXPECT_TRUE(outcome());
  EXPECT_EQ(
      bob.requests,
      std::vector<std::string>{
          R"({"method":"answer","prompt":"r1","decision":"timeout","message":"too late","by":"policy","answers":["a","b"]})"});
}

TEST_F(LocalHostManagerTest, RefusedAnswerHasANackCode) {
  const auto bob = host("Bob");
  bob->response = R"({"method":"answer","ok":false,"error":"that prompt is not open any more","code":"STALE"})";
  manager->answer({{}, "Bob", "r1", {}, "human"}, record_outcome());
  const auto stale = outcome();
  ASSERT_FALSE(stale);
  EXPECT_EQ(protocol::nack_code_of(stale.error()), protocol::NackCode::Stale);
  EXPECT_EQ(stale.error().message(), "that prompt is not open any more");
  manager->answer({{}, "Carol", "r1", {}, "human"}, record_outcome());
  const auto missing = outcome();
  ASSERT_FALSE(missing);
  EXPECT_EQ(protocol::nack_code_of(missing.error()), protocol::NackCode::Unsupported);
}

TEST_F(LocalHostManagerTest, InputIsTypedInOrder) {
  const auto worker = host("Worker");
  int typed = 0;
  for (const auto* keys : {"a", "\x1b[A", "c", "d"}) {
    manager->type("Worker", keys, [&](Result<void> outcome) {
      EXPECT_TRUE(outcome);
      ++typed;
    });
  }
  ASSERT_TRUE(run_until(loop, [&] { return typed == 4; }));
  std::string all;
  for (const auto& request : worker->requests) all += *string_member(*parse_json_object(request), "data");
  EXPECT_EQ(all, "a\x1b[Acd");
}

TEST_F(LocalHostManagerTest, FailedInputDoesNotBlockTheNext) {
  auto worker = host("Worker");
  worker->response.clear();
  int results = 0;
  bool failed = false;
  manager->type("Worker", "a", [&](Result<void> outcome) {
    failed = !outcome;
    ++results;
  });
  manager->type("Worker", "b", [&](Result<void>) { ++results; });
  ASSERT_TRUE(run_until(loop, [&] { return worker->requests.size() == 1; }));
  worker->clients.clear();  // closes the connection of the first
  worker->response = R"({"method":"input","ok":true})";
  ASSERT_TRUE(run_until(loop, [&] { return results == 2; }));
  EXPECT_TRUE(failed);
}

TEST_F(LocalHostManagerTest, LongInputIsTypedInParts) {
  const auto worker = host("Worker");
  std::string input(30'000, '\x01');
  while (input.size() + 2 <= protocol::kMaxInputBytes) input += "ü";
  manager->type("Worker", input, record_outcome());
  manager->type("Worker", "after", [](Result<void>) {});
  EXPECT_TRUE(outcome());
  ASSERT_TRUE(run_until(loop, [&] { return worker->requests.back().find("after") != std::string::npos; }));
  std::string all;
  for (const auto& request : worker->requests) {
    EXPECT_LE(request.size(), 64u * 1024);
    all += *string_member(*parse_json_object(request), "data");
  }
  EXPECT_EQ(all, input + "after");
}

TEST_F(LocalHostManagerTest, FailedInputReportsHowMuchWasTyped) {
  const auto worker = host("Worker");
  manager->type("Worker", std::string(20'000, 'x'), record_outcome());
  worker->on_request = [&] {
    if (worker->requests.size() == 2) worker->response = R"({"method":"input","ok":false,"error":"it is full"})";
  };
  EXPECT_EQ(outcome().error().message(), "it is full; 10000 of 20000 bytes were typed before");
}

TEST_F(LocalHostManagerTest, NamesMatchExactly) {
  const auto worker = host("Worker");
  manager->release("worker", {}, record_outcome());
  EXPECT_NE(outcome().error().message().find("'worker'"), std::string::npos);
  manager->type("WORKER", "y", record_outcome());
  EXPECT_FALSE(outcome());
  EXPECT_TRUE(worker->requests.empty());
}

TEST_F(LocalHostManagerTest, ConnectsOnlyToTheNamedHost) {
  const auto worker = host("Worker"), other = host("Other");
  manager->type("Worker", "y", record_outcome());
  EXPECT_TRUE(outcome());
  EXPECT_EQ(workers().size(), 2u);
  start(spec_for("Third"));
  EXPECT_EQ(worker->clients.size(), 1u);
  EXPECT_TRUE(other->clients.empty());
}

TEST_F(LocalHostManagerTest, ListsSpawnedHosts) {
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

TEST_F(LocalHostManagerTest, KilledHostIsNotListedBeforeItIsReaped) {
  const auto worker = host("Worker");
  worker->socket.reset();
  ::kill(worker->process->pid, SIGKILL);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(worker->process->pid), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(workers().empty());
}

TEST_F(LocalHostManagerTest, CallsNoCallbackAfterItsDestruction) {
  const auto worker = host("Worker");
  start(spec_for("Another"));
  manager->release("Worker", {}, record_outcome());
  manager->release("Ghost", {}, record_outcome());
  manager.reset();
  launcher.callbacks[0](1);
  loop.post([&] { loop.stop(); });
  loop.run();
  EXPECT_FALSE(done);
  EXPECT_FALSE(started);
}

}  // namespace
}  // namespace relay::daemon
