#include "daemon/host_launcher.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <sstream>

#include "base/format.h"
#include "base/unique_fd.h"
#include "net/asio_loop.h"
#include "net/readable_watch.h"
#include "net/testing/loop_driver.h"
#include "net/testing/temporary_directory.h"
#include "pty/process_handle.h"

namespace relay::daemon {
namespace {

using net::testing::run_until;
using net::testing::TemporaryDirectory;

/// The hosts are shell scripts with the descriptors and the contract of real hosts.
struct HostLauncherTest : ::testing::Test {
  TemporaryDirectory place;
  net::AsioLoop loop;
  std::optional<Result<std::int32_t>> started;

  Result<std::int32_t> start(const std::string& script, ProcessLauncher::Options options = {}) {
    options.log = place.file("log");
    options.program = "/bin/sh";
    ProcessLauncher launcher{loop, options};
    launcher.start(
        {.arguments = {"-c", script}, .environment = {"PATH=/usr/bin:/bin", "A=b"}, .directory = place.path()},
        [&](Result<std::int32_t> pid) { started = std::move(pid); });
    EXPECT_FALSE(started) << "called back inside the call";
    EXPECT_TRUE(run_until(loop, [&] { return started.has_value(); }));
    return *std::exchange(started, std::nullopt);
  }

  std::string text_of(const std::string& name) {
    std::ifstream file{place.file(name)};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  /// Waits for the end of a process that is not a child of this one.
  void wait_ended(std::int32_t pid) {
    const UniqueFd process = pty::open_process(pid);
    if (!process) return;
    bool ended = false;
    net::ReadableWatch watch{loop, process.get(), [&] { ended = true; }};
    EXPECT_TRUE(run_until(loop, [&] { return ended; }));
  }
};

TEST_F(HostLauncherTest, ReportsThePidOfTheHost) {
  const auto pid = start("echo \"ready $$\" >&3");
  ASSERT_TRUE(pid) << pid.error().message();
  EXPECT_GT(*pid, 0);
  wait_ended(*pid);
}

TEST_F(HostLauncherTest, HostsAreNotChildrenAndHaveTheirOwnSessions) {
  const UniqueFd stray{::fcntl(STDERR_FILENO, F_DUPFD, 200)};  // must not be inherited
  const auto pid =
      start(format("read -r _ _ _ parent _ session _ < /proc/$$/stat; echo \"$parent $session\" > seen; pwd >> seen;"
                   "echo $A >> seen; test -e /proc/$$/fd/{} && echo leaked >> seen; echo \"ready $$\" >&3",
                   stray.get()));
  ASSERT_TRUE(pid);
  wait_ended(*pid);
  std::istringstream seen{text_of("seen")};
  int parent = 0, session = 0;
  std::string directory, variable, more;
  seen >> parent >> session >> directory >> variable >> more;
  EXPECT_NE(parent, ::getpid());
  EXPECT_NE(session, ::getsid(0));
  EXPECT_EQ(directory, place.path());
  EXPECT_EQ(variable, "b");
  EXPECT_EQ(more, "");
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(HostLauncherTest, HostsGetTheOriginalUmask) {
  ProcessDefaults defaults = ProcessDefaults::now();
  defaults.umask = 022;
  const mode_t own = ::umask(077);
  const auto pid = start("umask > mask; echo \"ready $$\" >&3", {.log = {}, .defaults = defaults});
  ::umask(own);
  ASSERT_TRUE(pid);
  wait_ended(*pid);
  EXPECT_EQ(text_of("mask"), "0022\n");
}

TEST_F(HostLauncherTest, ReportsTheErrorOfAHost) {
  const auto pid = start("echo 'error: there is no claude here' >&3");
  ASSERT_FALSE(pid);
  EXPECT_EQ(pid.error().message(), "there is no claude here");
}

TEST_F(HostLauncherTest, ReportsAHostThatEndsWithoutAReport) {
  const auto pid = start("echo stray; echo more >&2; exit 3");
  ASSERT_FALSE(pid);
  EXPECT_NE(pid.error().message().find("ended before it was ready"), std::string::npos) << pid.error().message();
  EXPECT_EQ(text_of("log"), "stray\nmore\n");
}

TEST_F(HostLauncherTest, ReadsAnErrorReportInPieces) {
  ASSERT_EQ(::mkfifo(place.file("gate").c_str(), 0600), 0);
  ProcessLauncher launcher{loop, {.log = place.file("log"), .program = "/bin/sh"}};
  launcher.start({.arguments = {"-c", "printf 'error: the name' >&3; read -r _ < gate; printf ' is taken' >&3"},
                  .environment = {},
                  .directory = place.path()},
                 [&](Result<std::int32_t> pid) { started = std::move(pid); });
  const UniqueFd gate{::open(place.file("gate").c_str(), O_RDWR | O_CLOEXEC)};
  ASSERT_EQ(::write(gate.get(), "go\n", 3), 3);
  ASSERT_TRUE(run_until(loop, [&] { return started.has_value(); }));
  ASSERT_FALSE(*started);
  EXPECT_EQ(started->error().message(), "the name is taken");
}

TEST_F(HostLauncherTest, StopsAHostThatSendsNoReport) {
  // A shell that was stopped before it set its trap leaves no pid; the next one gets twice the time.
  for (Millis timeout{50}; !text_of("pid").ends_with('\n'); timeout *= 2) {
    ASSERT_LT(timeout, net::testing::kDeadline);
    const auto pid = start(
        "trap 'echo stopped > ended; exit' TERM; echo $$ > pid;"
        "while :; do sleep 0.01; done",
        {.log = {}, .timeout = timeout});
    ASSERT_FALSE(pid);
    EXPECT_NE(pid.error().message().find("not ready"), std::string::npos);
  }
  wait_ended(std::stoi(text_of("pid")));
  EXPECT_EQ(text_of("ended"), "stopped\n");
}

TEST_F(HostLauncherTest, RefusesAReportWithoutAPid) {
  for (const auto* report : {"ready", "ready x", "ready 0", "ready 12 13", "nonsense", "ready -4"}) {
    const auto pid = start(format("echo '{}' >&3", report));
    EXPECT_FALSE(pid) << report;
  }
  EXPECT_FALSE(start("head -c 100000 /dev/zero | tr '\\0' x >&3"));
}

TEST_F(HostLauncherTest, AStartingHostDoesNotBlockTheShutdown) {
  ASSERT_EQ(::mkfifo(place.file("gate").c_str(), 0600), 0);
  ProcessLauncher launcher{loop, {.log = place.file("log"), .program = "/bin/sh"}};
  launcher.start({.arguments = {"-c", "read -r _ < gate"}, .environment = {}, .directory = place.path()},
                 [&](Result<std::int32_t> pid) { started = std::move(pid); });
  launcher.abandon();
  loop.finish();
  loop.run();  // returns although the host has sent nothing
  EXPECT_FALSE(started);
  std::ofstream{place.file("gate")} << "go\n";  // lets the host end
}

TEST_F(HostLauncherTest, ReportsAMissingDirectory) {
  ProcessLauncher launcher{loop, {.log = place.file("log"), .program = "/bin/sh"}};
  launcher.start({.arguments = {"-c", "echo ready 1 >&3"}, .environment = {}, .directory = place.file("none")},
                 [&](Result<std::int32_t> pid) { started = std::move(pid); });
  ASSERT_TRUE(run_until(loop, [&] { return started.has_value(); }));
  ASSERT_FALSE(*started);
  EXPECT_NE(started->error().message().find("directory"), std::string::npos);
}

}  // namespace
}  // namespace relay::daemon
