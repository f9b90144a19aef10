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

/// Hosts here are scripts of a shell, with the same descriptors and the same contract.
struct HostLauncherTest : ::testing::Test {
  TemporaryDirectory place;
  net::AsioLoop loop;
  std::optional<Result<std::int32_t>> told;

  Result<std::int32_t> start(const std::string& script, ProcessLauncher::Options options = {}) {
    options.log = place.file("log");
    options.program = "/bin/sh";
    ProcessLauncher launcher{loop, options};
    launcher.start(
        {.arguments = {"-c", script}, .environment = {"PATH=/usr/bin:/bin", "A=b"}, .directory = place.path()},
        [&](Result<std::int32_t> pid) { told = std::move(pid); });
    EXPECT_FALSE(told) << "called back from inside the call";
    EXPECT_TRUE(run_until(loop, [&] { return told.has_value(); }));
    return *std::exchange(told, std::nullopt);
  }

  std::string text_of(const std::string& name) {
    std::ifstream file{place.file(name)};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  /// Waits for the end of a process that is nobody's child.
  void until_gone(std::int32_t pid) {
    const UniqueFd process = pty::open_process(pid);
    if (!process) return;
    bool gone = false;
    net::ReadableWatch watch{loop, process.get(), [&] { gone = true; }};
    EXPECT_TRUE(run_until(loop, [&] { return gone; }));
  }
};

TEST_F(HostLauncherTest, TellsThePidTheHostSays) {
  const auto pid = start("echo \"ready $$\" >&3");
  ASSERT_TRUE(pid) << pid.error().message();
  EXPECT_GT(*pid, 0);
  until_gone(*pid);
}

TEST_F(HostLauncherTest, HostsAreNobodysChildrenInSessionsOfTheirOwn) {
  const UniqueFd stray{::fcntl(STDERR_FILENO, F_DUPFD, 200)};  // one that was not meant to be inherited
  const auto pid =
      start(format("read -r _ _ _ parent _ session _ < /proc/$$/stat; echo \"$parent $session\" > seen; pwd >> seen;"
                   "echo $A >> seen; test -e /proc/$$/fd/{} && echo leaked >> seen; echo \"ready $$\" >&3",
                   stray.get()));
  ASSERT_TRUE(pid);
  until_gone(*pid);
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

TEST_F(HostLauncherTest, TheirFilesAreNotAsPrivateAsTheDaemons) {
  ProcessDefaults defaults = ProcessDefaults::now();
  defaults.umask = 022;
  const mode_t ours = ::umask(077);
  const auto pid = start("umask > mask; echo \"ready $$\" >&3", {.log = {}, .defaults = defaults});
  ::umask(ours);
  ASSERT_TRUE(pid);
  until_gone(*pid);
  EXPECT_EQ(text_of("mask"), "0022\n");
}

TEST_F(HostLauncherTest, TellsTheSentenceOfAHostThatCannot) {
  const auto pid = start("echo 'error: there is no claude here' >&3");
  ASSERT_FALSE(pid);
  EXPECT_EQ(pid.error().message(), "there is no claude here");
}

TEST_F(HostLauncherTest, TellsOfAHostThatEndsWithoutAWord) {
  const auto pid = start("echo stray; echo words >&2; exit 3");
  ASSERT_FALSE(pid);
  EXPECT_NE(pid.error().message().find("ended before it was ready"), std::string::npos) << pid.error().message();
  EXPECT_EQ(text_of("log"), "stray\nwords\n");
}

TEST_F(HostLauncherTest, HearsAHostThatCannotAfterAllInPieces) {
  ASSERT_EQ(::mkfifo(place.file("gate").c_str(), 0600), 0);
  ProcessLauncher launcher{loop, {.log = place.file("log"), .program = "/bin/sh"}};
  launcher.start({.arguments = {"-c", "printf 'error: the name' >&3; read -r _ < gate; printf ' is taken' >&3"},
                  .environment = {},
                  .directory = place.path()},
                 [&](Result<std::int32_t> pid) { told = std::move(pid); });
  const UniqueFd gate{::open(place.file("gate").c_str(), O_RDWR | O_CLOEXEC)};
  ASSERT_EQ(::write(gate.get(), "go\n", 3), 3);
  ASSERT_TRUE(run_until(loop, [&] { return told.has_value(); }));
  ASSERT_FALSE(*told);
  EXPECT_EQ(told->error().message(), "the name is taken");
}

TEST_F(HostLauncherTest, EndsAHostThatStaysSilent) {
  // A shell that was told to end before it had set its trap leaves no pid; the next one has twice the time for it.
  for (Millis patience{50}; !text_of("pid").ends_with('\n'); patience *= 2) {
    ASSERT_LT(patience, net::testing::kDeadline);
    const auto pid = start(
        "trap 'echo asked > ended; exit' TERM; echo $$ > pid;"
        "while :; do sleep 0.01; done",
        {.log = {}, .timeout = patience});
    ASSERT_FALSE(pid);
    EXPECT_NE(pid.error().message().find("not ready"), std::string::npos);
  }
  until_gone(std::stoi(text_of("pid")));
  EXPECT_EQ(text_of("ended"), "asked\n");
}

TEST_F(HostLauncherTest, DoesNotBelieveWhatIsNoPid) {
  for (const auto* said : {"ready", "ready x", "ready 0", "ready 12 13", "nonsense", "ready -4"}) {
    const auto pid = start(format("echo '{}' >&3", said));
    EXPECT_FALSE(pid) << said;
  }
  EXPECT_FALSE(start("head -c 100000 /dev/zero | tr '\\0' x >&3"));
}

TEST_F(HostLauncherTest, AHostOnItsWayDoesNotHoldUpTheEnd) {
  ASSERT_EQ(::mkfifo(place.file("gate").c_str(), 0600), 0);
  ProcessLauncher launcher{loop, {.log = place.file("log"), .program = "/bin/sh"}};
  launcher.start({.arguments = {"-c", "read -r _ < gate"}, .environment = {}, .directory = place.path()},
                 [&](Result<std::int32_t> pid) { told = std::move(pid); });
  launcher.abandon();
  loop.finish();
  loop.run();  // returns though the host is silent
  EXPECT_FALSE(told);
  std::ofstream{place.file("gate")} << "go\n";  // it ends, too
}

TEST_F(HostLauncherTest, SaysSoWhenTheDirectoryIsGone) {
  ProcessLauncher launcher{loop, {.log = place.file("log"), .program = "/bin/sh"}};
  launcher.start({.arguments = {"-c", "echo ready 1 >&3"}, .environment = {}, .directory = place.file("none")},
                 [&](Result<std::int32_t> pid) { told = std::move(pid); });
  ASSERT_TRUE(run_until(loop, [&] { return told.has_value(); }));
  ASSERT_FALSE(*told);
  EXPECT_NE(told->error().message().find("directory"), std::string::npos);
}

}  // namespace
}  // namespace relay::daemon
