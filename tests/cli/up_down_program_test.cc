#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <filesystem>

#include "base/unique_fd.h"
#include "cli/sandbox.h"
#include "cli/wire/daemon_connection.h"

namespace relay::cli_tests {
namespace {

namespace fs = std::filesystem;

/// Sends a message from Bob to himself and waits until it is in events.jsonl.
void store_message(Sandbox& box, const std::string& body) {
  box.ok({"chat", "--name", "Bob"}, "@Bob " + body + "\n");
  const auto log = box.workspace_directory() + "/events.jsonl";
  ASSERT_TRUE(eventually([&] { return fs::exists(log) && fs::file_size(log) > 0; }));
}

void remove_database(const Sandbox& box) {
  for (const auto& entry : fs::directory_iterator{box.workspace_directory()})
    if (entry.path().filename().string().starts_with("messages.sqlite")) fs::remove(entry.path());
}

TEST(Up, ReturnsWhenWorkspaceIsReady) {
  Sandbox box;
  const auto printed = box.ok({"up"});
  EXPECT_NE(printed.find("the workspace of " + box.project() + " is open"), std::string::npos) << printed;
  const auto status = box.ok_json({"status"});
  EXPECT_EQ(integer_member(status, "pid"), box.daemon_pid());
  EXPECT_EQ(string_member(*object_member(status, "project"), "root"), box.project());
  EXPECT_NE(box.ok({"status"}).find("sqlite, durable"), std::string::npos);
}

TEST(Up, SecondUpIsHarmless) {
  Sandbox box;
  box.ok({"up"});
  const auto pid = box.daemon_pid();
  box.ok({"up"});
  EXPECT_EQ(box.daemon_pid(), pid);
  const auto again = box.run({"up", "--durability", "process"});
  EXPECT_EQ(again.code, 0);
  EXPECT_NE(again.err.find("--durability has no effect on a running daemon"), std::string::npos) << again.err;
}

TEST(Up, RestoresRemovedSocket) {
  Sandbox box;
  box.ok({"chat", "--name", "Bob"}, "@Bob I am here\n");
  fs::remove(box.workspace_directory() + "/relay.sock");
  box.ok({"up"});
  box.ok({"send", "Bob", "hello"});
  EXPECT_NE(box.ok({"log"}).find("hello"), std::string::npos);
}

TEST(Up, RewritesSystemToken) {
  Sandbox box;
  box.ok({"up"});
  const auto token = box.system_token();
  fs::remove(box.home() + "/system.token");
  box.ok({"up"});
  EXPECT_EQ(box.system_token(), token);
  box.ok({"agents"});
}

TEST(Up, LostMemoryMessagesAreNotReportedAsDamage) {
  Sandbox box;
  box.ok({"up", "--storage", "memory"});
  store_message(box, "lost with the daemon");
  box.ok({"down", "--all"});
  box.ok({"up"});
  EXPECT_EQ(box.ok({"status"}).find("lost"), std::string::npos);
  store_message(box, "stored");
  box.kill_daemon();
  remove_database(box);
  box.ok({"up"});
  EXPECT_NE(box.ok({"status"}).find("at least"), std::string::npos) << "a missing store is reported";
}

TEST(Up, EmptiedStoreIsReported) {
  Sandbox box;
  box.ok({"up"});
  store_message(box, "stored");
  EXPECT_EQ(box.ok({"doctor", "--json"}).find("\"damage\""), std::string::npos);
  box.kill_daemon();
  remove_database(box);
  box.write(box.workspace_directory() + "/messages.sqlite", "");
  box.ok({"up"});
  const std::string lost = "at least 1 acknowledged message is lost";
  const auto status = box.ok({"status"});
  EXPECT_NE(status.find(lost), std::string::npos) << status;
  EXPECT_NE(status.find("messages.sqlite is empty; a new one was started"), std::string::npos) << status;
  const auto doctor = box.run({"doctor", "--json"});
  EXPECT_EQ(doctor.code, 1);
  const auto damage = doctor_checks(box, "damage").at(0);
  EXPECT_EQ(string_member(damage, "status"), "problem") << doctor.out;
  EXPECT_NE(string_member(damage, "message").value_or("").find(lost), std::string::npos) << doctor.out;
  EXPECT_NE(string_member(damage, "fix").value_or("").find("check the disk"), std::string::npos) << doctor.out;
  EXPECT_NE(box.ok({"events", "--types", "relay.damaged", "--json"}).find(lost), std::string::npos);
}

TEST(Up, ManyAtOnceShareOneDaemon) {
  Sandbox box;
  std::vector<std::unique_ptr<Background>> all;
  for (int i = 0; i < 5; ++i) all.push_back(box.start({"up"}));
  for (const auto& one : all) {
    const auto ran = one->finish();
    EXPECT_EQ(ran.code, 0) << ran.err;
  }
  box.ok({"status"});
}

TEST(Up, StartsNewDaemonWhenOldOneStops) {
  Sandbox box;
  box.ok({"up"});
  box.kill_daemon();
  const auto path = box.home() + "/daemon.sock";
  fs::remove(path);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  UniqueFd dying{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  ASSERT_EQ(::bind(dying.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(dying.get(), 1), 0);
  const auto up = box.start({"up"});
  pollfd caller{dying.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&caller, 1, 20'000), 1);  // `up` waits for a response now
  dying.reset();
  const auto ran = up->finish();
  EXPECT_EQ(ran.code, 0) << ran.err;
  box.ok({"status"});
}

TEST(Up, OpensAnotherProjectInSameDaemon) {
  Sandbox box;
  box.ok({"up"});
  const auto pid = box.daemon_pid();
  const auto uptime = [&] { return integer_member(box.ok_json({"status"}), "uptime").value_or(-1); };
  ASSERT_TRUE(eventually([&] { return uptime() > 20; }));
  const auto earlier = uptime();
  box.enter_project("other");
  const auto before = box.run({"status"});
  EXPECT_EQ(before.code, 3);
  EXPECT_NE(before.err.find("is not open"), std::string::npos) << before.err;
  box.ok({"up"});
  EXPECT_EQ(box.daemon_pid(), pid);
  EXPECT_GE(uptime(), earlier) << "of the daemon, not of its newest workspace";
  const auto status = box.ok_json({"status"});
  EXPECT_LE(integer_member(status, "workspaceUptime").value_or(-1),
            integer_member(status, "uptime").value_or(0) - earlier + 1);
}

TEST(Up, ListensAtAdditionalSocket) {
  Sandbox box;
  const auto socket = box.project() + "/extra.sock";
  box.ok({"up", "--socket", "extra.sock", "--no-http"});
  auto connection = cli::DaemonConnection::open(socket);
  ASSERT_TRUE(connection.has_value()) << connection.error().message();
  EXPECT_TRUE(connection->say_hello(box.system_token()).has_value());
}

TEST(Up, CreatesPrivateFilesAndSockets) {
  Sandbox box;
  box.ok({"up"});
  for (const auto& [path, mode] : {std::pair{box.home(), 0700U},
                                   {box.workspace_directory(), 0700U},
                                   {box.workspace_directory() + "/relay.sock", 0600U},
                                   {box.home() + "/daemon.sock", 0600U}}) {
    struct stat info{};
    ASSERT_EQ(::stat(path.c_str(), &info), 0) << path;
    EXPECT_EQ(info.st_mode & 07777U, mode) << path;
  }
}

TEST(Up, ForegroundDaemonStopsOnRequest) {
  Sandbox box;
  const auto daemon = box.start({"up", "--foreground"});
  ASSERT_TRUE(daemon->prints_error("listening"));
  box.ok({"status"});
  EXPECT_EQ(box.run({"up", "--foreground"}).code, 5) << "another daemon is running";
  daemon->signal(SIGTERM);
  EXPECT_EQ(daemon->finish().code, 0);
  EXPECT_EQ(box.run({"status"}).code, 3);
}

TEST(Up, RecoversAfterKill) {
  Sandbox box;
  box.ok({"up"});
  auto bob = box.start({"chat", "--name", "Bob", "--listen"});
  ASSERT_TRUE(box.is_connected("Bob"));
  box.ok({"send", "Bob", "before", "--wait"});
  box.kill_daemon();
  EXPECT_EQ(box.run({"--no-start", "log"}).code, 3);
  box.ok({"up"});
  EXPECT_NE(box.ok({"log"}).find("before"), std::string::npos);
}

TEST(Up, WorksInHomeWithTooLongPath) {
  Sandbox box;
  box.use_home(box.home() + std::string(120, 'h'));
  box.ok({"up"});
  box.ok({"status"});
  box.ok({"doctor"});
  box.ok({"down", "--all"});
}

TEST(Up, ReportsStartupError) {
  Sandbox box;
  box.write(box.home() + "/config.toml", "\nheartbeat_ms = \"soon\"\n");
  const auto bad_config = box.run({"up"});
  EXPECT_EQ(bad_config.code, 1);
  EXPECT_EQ(bad_config.err, "agent-relay: " + box.home() +
                                "/config.toml:2:16: heartbeat_ms cannot be a value of that type; allowed: a whole "
                                "number from 100 to 3600000\n");
  box.write(box.home() + "/config.toml", "");
  box.set("AGENT_RELAY_STORAGE_URL", "postgres://db");
  const auto postgres = box.run({"up"});
  EXPECT_EQ(postgres.code, 1);
  EXPECT_NE(postgres.err.find("cannot use PostgreSQL yet"), std::string::npos);
  box.set("AGENT_RELAY_STORAGE_URL", "");
  box.set("AGENT_RELAY_STORAGE_PATH", "/dev/null/no.sqlite");
  const auto bad_path = box.run({"up"});
  EXPECT_EQ(bad_path.code, 1) << bad_path.out;
  EXPECT_NE(bad_path.err.find("/dev/null"), std::string::npos) << bad_path.err;
}

TEST(Up, UnusableHomeIsOneLineError) {
  Sandbox box;
  box.use_home("/dev/null/home");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"up"}, {"status"}, {"send", "Bob", "hi"}}) {
    const auto ran = box.run(words);
    EXPECT_NE(ran.code, 0);
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_NE(ran.err.find("/dev/null/home"), std::string::npos) << ran.err;
  }
}

TEST(Down, ClosesThisProjectOnly) {
  Sandbox box;
  box.ok({"up"});
  box.enter_project("other");
  box.ok({"up"});
  box.ok({"down"});
  EXPECT_EQ(box.run({"status"}).code, 3);
  EXPECT_EQ(box.run({"down"}).code, 0) << "a second `down` is harmless";
  box.enter_project("project");
  box.ok({"status"});
}

TEST(Down, ProcessInAgentCannotStopOrReloadDaemon) {
  Sandbox box;
  box.ok({"up"});
  const auto pid = box.daemon_pid();
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"down", "--all"}, {"down"}, {"reload"}, {"reload", "--json"}}) {
    std::vector<std::string> inside{"run", "-n", "X", program()};
    inside.insert(inside.end(), words.begin(), words.end());
    const auto ran = box.run(inside);
    EXPECT_EQ(ran.code, 5) << words[0] << ran.out << ran.err;
    EXPECT_NE(ran.err.find("only the user may "), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find("inside the agent X"), std::string::npos) << ran.err;
  }
  EXPECT_EQ(box.daemon_pid(), pid);
  EXPECT_TRUE(is_running(pid));
  box.ok({"reload"});
  box.ok({"down"});
  EXPECT_EQ(box.run({"run", "-n", "X", program(), "up"}).code, 0) << "an agent may open a workspace";
  box.ok({"status"});
}

TEST(Down, ProcessInAgentPausesOnlyItself) {
  Sandbox box;
  box.ok({"up"});
  const auto chat = box.start({"chat", "--name", "Zed"});
  ASSERT_TRUE(box.is_connected("Zed"));
  const auto inside = [&](const std::string& name) { return box.run({"run", "-n", "X", program(), "pause", name}); };
  const auto refused = inside("Zed");
  EXPECT_EQ(refused.code, 5);
  EXPECT_NE(refused.err.find("only the user may pause other agents"), std::string::npos) << refused.err;
  EXPECT_EQ(inside("X").code, 0);
  box.ok({"pause", "Zed"});
}

/// An agent that is connected without a host.
TEST(Hostless, ConnectedProgramIsReportedWithoutSuggestion) {
  Sandbox box;
  box.ok({"up"});
  const auto agent = box.start({"run", "-n", "Ed", "sleep", "60"});
  const auto chat = box.start({"chat", "--name", "Zed"});
  ASSERT_TRUE(box.is_connected("Zed") && box.is_connected("Ed"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"input", "Zed", "x"}, {"explain", "Zed"}, {"release", "Zed"}}) {
    const auto ran = box.run(words);
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.err.find("Zed is connected without a host (a chat or another program)"), std::string::npos)
        << ran.err;
    EXPECT_EQ(ran.err.find("did you mean"), std::string::npos) << ran.err;
  }
  EXPECT_NE(box.run({"release", "Zed"}).err.find("stop it where it runs"), std::string::npos);
  EXPECT_NE(box.run({"explain", "Edd"}).err.find("did you mean Ed?"), std::string::npos) << "the name is unknown";
  agent->signal(SIGTERM);
}

TEST(Down, AllStopsDaemonAndRemovesSockets) {
  Sandbox box;
  box.ok({"up"});
  const auto pid = box.daemon_pid();
  box.ok({"down", "--all"});
  EXPECT_FALSE(is_running(pid));
  EXPECT_FALSE(fs::exists(box.home() + "/daemon.sock"));
  EXPECT_FALSE(fs::exists(box.workspace_directory() + "/relay.sock"));
  const auto again = box.run({"down", "--all"});
  EXPECT_EQ(again.code, 0);
  EXPECT_EQ(again.err, "agent-relay: no daemon is running\n");
}

}  // namespace
}  // namespace relay::cli_tests
