#include "pty/user_terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <csignal>

#include "pty/errors.h"
#include "pty/terminal_guard.h"
#include "pty/testing/forwarder.h"
#include "pty/testing/test_terminal.h"

namespace relay::pty {
namespace {

using testing::TestTerminal;

constexpr std::string_view kRestored = "\x18<restored>";

TestTerminal leaving(const std::string& how) { return TestTerminal{{SEATED_PROGRAM, "leave", how}}; }

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

struct ExitCase {
  std::string name;
  int signal;  // sent once it is ready, or 0
  ExitStatus expected;

  [[nodiscard]] bool expected_is_crash() const {
    return expected.kind == ExitStatus::Kind::Signalled &&
           (expected.value == SIGSEGV || expected.value == SIGBUS || expected.value == SIGABRT);
  }
};

class ExitPaths : public ::testing::TestWithParam<ExitCase> {};

TEST_P(ExitPaths, RestoresTheTerminal) {
  const auto& how = GetParam();
  auto terminal = leaving(how.name);
  ASSERT_TRUE(terminal.wait_for("[ready]"));
  if (how.signal != 0) {
    EXPECT_TRUE(terminal.is_raw());
    ::kill(terminal.process.pid, how.signal);
  }
  const auto status = terminal.finish();
  // A sanitizer reports a crash by itself and exits with a code of its own.
  const bool comparable = !kSanitized || !how.expected_is_crash();
  EXPECT_TRUE(!comparable || status == how.expected) << status.describe();
  EXPECT_TRUE(terminal.is_restored());
  EXPECT_TRUE(terminal.screen.contains(kRestored));
  EXPECT_EQ(terminal.screen.find(kRestored), terminal.screen.rfind(kRestored)) << "once";
}

constexpr auto kExited = ExitStatus::Kind::Exited;
constexpr auto kSignalled = ExitStatus::Kind::Signalled;

INSTANTIATE_TEST_SUITE_P(
    , ExitPaths,
    ::testing::Values(ExitCase{"return", 0, {kExited, 0}}, ExitCase{"exit", 0, {kExited, 5}},
                      ExitCase{"quick-exit", 0, {kExited, 6}}, ExitCase{"throw", 0, {kSignalled, SIGABRT}},
                      ExitCase{"abort", 0, {kSignalled, SIGABRT}}, ExitCase{"crash", 0, {kSignalled, SIGSEGV}},
                      ExitCase{"overflow", 0, {kSignalled, SIGSEGV}}, ExitCase{"wait", SIGTERM, {kSignalled, SIGTERM}},
                      ExitCase{"wait", SIGINT, {kSignalled, SIGINT}}, ExitCase{"wait", SIGHUP, {kSignalled, SIGHUP}},
                      ExitCase{"wait", SIGQUIT, {kSignalled, SIGQUIT}}, ExitCase{"wait", SIGBUS, {kSignalled, SIGBUS}},
                      ExitCase{"orderly", SIGTERM, {kExited, 0}}),
    [](const auto& one) {
      auto name = one.param.name + "_" + std::to_string(one.param.signal);
      std::ranges::replace(name, '-', '_');
      return name;
    });

TEST(UserTerminalTest, IsNotRestoredAfterSigkill) {
  auto terminal = leaving("wait");
  ASSERT_TRUE(terminal.wait_for("[ready]"));
  ::kill(terminal.process.pid, SIGKILL);
  terminal.finish();
  EXPECT_TRUE(terminal.is_raw()) << "cannot be prevented; the user types `reset`";
}

TEST(UserTerminalTest, PassesEveryKeyUninterpreted) {
  auto terminal = leaving("wait");
  ASSERT_TRUE(terminal.wait_for("[ready]"));
  terminal.type("\x03\x1a\r\x04");
  EXPECT_TRUE(terminal.wait_for("[typed \x03\x1a\r\x04]"));
  terminal.type("q");
  EXPECT_EQ(terminal.finish(), (ExitStatus{kExited, 0}));
}

TEST(UserTerminalTest, ReportsAResize) {
  auto terminal = leaving("wait");
  ASSERT_TRUE(terminal.wait_for("[ready]"));
  ASSERT_TRUE(set_window_size(terminal.pty.controller.get(), {111, 22}));
  EXPECT_TRUE(terminal.wait_for("[size 111x22]"));
}

/// A shell with job control, in which the program is a job.
TestTerminal job_leaving(const std::string& how) {
  return TestTerminal{
      {"sh", "-c", "set -m; \"$0\" leave \"$1\"; echo '[shell]'; read line; fg; echo '[end]'", SEATED_PROGRAM, how}};
}

TEST(UserTerminalTest, IsRestoredWhileSuspended) {
  for (const auto* how : {"wait", "suspend"}) {
    auto terminal = job_leaving(how);
    ASSERT_TRUE(terminal.wait_for("[ready]"));
    if (how == std::string_view{"wait"}) ::kill(-::tcgetpgrp(terminal.pty.controller.get()), SIGTSTP);
    ASSERT_TRUE(terminal.wait_for("[shell]"));
    EXPECT_TRUE(terminal.is_restored());
    EXPECT_LT(terminal.screen.find(kRestored), terminal.screen.find("[shell]"));
    EXPECT_FALSE(terminal.screen.contains("[continued]"));
    terminal.type("\r");
    ASSERT_TRUE(terminal.wait_for("[continued]"));
    EXPECT_TRUE(terminal.is_raw());
    terminal.type("q");
    EXPECT_TRUE(terminal.wait_for("[end]"));
    EXPECT_EQ(terminal.finish(), (ExitStatus{kExited, 0}));
    EXPECT_TRUE(terminal.is_restored());
  }
}

TEST(UserTerminalTest, IsNotSuspendedWithoutAShell) {
  auto terminal = leaving("suspend");
  ASSERT_TRUE(terminal.wait_for("[continued]"));
  EXPECT_TRUE(terminal.is_raw());
  terminal.type("q");
  EXPECT_EQ(terminal.finish(), (ExitStatus{kExited, 0}));
}

TEST(UserTerminalTest, IsRawAgainAfterSigstop) {
  auto terminal = leaving("wait");
  ASSERT_TRUE(terminal.wait_for("[ready]"));
  ::kill(terminal.process.pid, SIGSTOP);
  ASSERT_TRUE(terminal.wait_stopped());
  ASSERT_EQ(::tcsetattr(terminal.pty.peer.get(), TCSANOW, &terminal.before), 0);  // as a shell does
  ::kill(terminal.process.pid, SIGCONT);
  EXPECT_TRUE(terminal.wait_for("[continued]"));
  EXPECT_TRUE(terminal.is_raw());
}

TEST(UserTerminalTest, KeepsTheFlagsOfTheShell) {
  auto terminal = leaving("wait");
  ASSERT_TRUE(terminal.wait_for("[ready]"));
  EXPECT_EQ(::fcntl(terminal.pty.peer.get(), F_GETFL) & O_NONBLOCK, 0) << "the program holds a copy of this one";
}

TEST(UserTerminalTest, ReportsThatItIsClosed) {
  auto terminal = leaving("orderly");
  ASSERT_TRUE(terminal.wait_for("[ready]"));
  terminal.pty.peer.reset();
  terminal.pty.controller.reset();  // the window was closed
  pollfd ended{.fd = terminal.process.pidfd.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&ended, 1, TestTerminal::kDeadlineMs), 1);
}

class Deaf final : public UserTerminalListener {
  void on_typed(std::string_view) override {}
  void on_written(std::size_t) override {}
  void on_resized(WindowSize) override {}
  void on_continued() override {}
  void on_closed(const std::string&) override {}
};

TEST(UserTerminalTest, RefusesWithoutATerminal) {
  const UniqueFd nothing{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  net::AsioLoop loop;
  Deaf deaf;
  EXPECT_FALSE(UserTerminal::is_one(nothing.get(), nothing.get()));
  const auto opened = UserTerminal::open(loop, deaf, nothing.get(), nothing.get());
  ASSERT_FALSE(opened);
  EXPECT_TRUE(is(opened.error(), Errc::NotATerminal));
}

TEST(UserTerminalTest, BoundsOutputForABlockedTerminal) {
  auto terminal = PseudoTerminal::open({});
  ASSERT_TRUE(terminal);
  net::AsioLoop loop;
  Deaf deaf;
  auto opened = UserTerminal::open(loop, deaf, terminal->peer.get(), terminal->peer.get());
  ASSERT_TRUE(opened);
  const std::string block(100'000, 'x');
  std::size_t taken = 0;
  for (int i = 0; i < 100; ++i) taken += (*opened)->write(block);
  EXPECT_LT(taken, 10 * block.size());
  EXPECT_EQ((*opened)->output_waiting(), kMaxTerminalBytes);
  EXPECT_TRUE((*opened)->wants_pause());
  EXPECT_FALSE((*opened)->set_restore_bytes(std::string(kMaxRestoreBytes + 1, 'x')));
}

TEST(Forwarding, LosesNothingForASlowTerminal) {
  TestTerminal terminal{
      {SEATED_PROGRAM, "forward", "sh", "-c", "stty raw -echo; seq -s , 1 300000; echo done; exit 6"}};
  ASSERT_TRUE(terminal.wait_for("done"));  // reads 4 KB at a time: slower than the child writes
  std::string expected;
  for (int i = 1; i <= 300'000; ++i) expected += std::to_string(i) + (i < 300'000 ? "," : "\ndone\n");
  EXPECT_EQ(terminal.finish(), (ExitStatus{kExited, 6}));
  EXPECT_EQ(terminal.screen, expected);
  EXPECT_TRUE(terminal.is_restored());
}

TEST(Forwarding, PassesKeysAndSizesToTheChild) {
  TestTerminal terminal{{SEATED_PROGRAM, "forward", "sh", "-c", "stty size; read line; stty size; echo \"<$line>\""},
                        {70, 20}};
  ASSERT_TRUE(terminal.wait_for("20 70"));
  ASSERT_TRUE(set_window_size(terminal.pty.controller.get(), {90, 40}));
  terminal.type("hello\r");
  EXPECT_TRUE(terminal.wait_for("<hello>"));
  terminal.finish();
}

}  // namespace
}  // namespace relay::pty
