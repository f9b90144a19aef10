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

TestTerminal leaving(const std::string& way) { return TestTerminal{{SEATED_PROGRAM, "leave", way}}; }

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

struct Way {
  std::string name;
  int signal;  // sent once it is ready, or 0
  ExitStatus expected;

  [[nodiscard]] bool expected_is_crash() const {
    return expected.kind == ExitStatus::Kind::Signalled &&
           (expected.value == SIGSEGV || expected.value == SIGBUS || expected.value == SIGABRT);
  }
};

class EveryWayOut : public ::testing::TestWithParam<Way> {};

TEST_P(EveryWayOut, GivesTheTerminalBackAsItWas) {
  const auto& way = GetParam();
  auto seat = leaving(way.name);
  ASSERT_TRUE(seat.shows("[ready]"));
  if (way.signal != 0) {
    EXPECT_TRUE(seat.is_raw());
    ::kill(seat.process.pid, way.signal);
  }
  const auto status = seat.finish();
  // A sanitizer reports a crash by itself and exits with a code of its own.
  const bool comparable = !kSanitized || !way.expected_is_crash();
  EXPECT_TRUE(!comparable || status == way.expected) << status.describe();
  EXPECT_TRUE(seat.is_as_before());
  EXPECT_TRUE(seat.screen.contains(kRestored));
  EXPECT_EQ(seat.screen.find(kRestored), seat.screen.rfind(kRestored)) << "once";
}

constexpr auto kExited = ExitStatus::Kind::Exited;
constexpr auto kSignalled = ExitStatus::Kind::Signalled;

INSTANTIATE_TEST_SUITE_P(
    , EveryWayOut,
    ::testing::Values(Way{"return", 0, {kExited, 0}}, Way{"exit", 0, {kExited, 5}}, Way{"quick-exit", 0, {kExited, 6}},
                      Way{"throw", 0, {kSignalled, SIGABRT}}, Way{"abort", 0, {kSignalled, SIGABRT}},
                      Way{"crash", 0, {kSignalled, SIGSEGV}}, Way{"overflow", 0, {kSignalled, SIGSEGV}},
                      Way{"wait", SIGTERM, {kSignalled, SIGTERM}}, Way{"wait", SIGINT, {kSignalled, SIGINT}},
                      Way{"wait", SIGHUP, {kSignalled, SIGHUP}}, Way{"wait", SIGQUIT, {kSignalled, SIGQUIT}},
                      Way{"wait", SIGBUS, {kSignalled, SIGBUS}}, Way{"orderly", SIGTERM, {kExited, 0}}),
    [](const auto& one) {
      auto name = one.param.name + "_" + std::to_string(one.param.signal);
      std::ranges::replace(name, '-', '_');
      return name;
    });

TEST(PersonTerminal, CannotGiveItBackWhenKilled) {
  auto seat = leaving("wait");
  ASSERT_TRUE(seat.shows("[ready]"));
  ::kill(seat.process.pid, SIGKILL);
  seat.finish();
  EXPECT_TRUE(seat.is_raw()) << "nobody can: a person types `reset`";
}

TEST(PersonTerminal, PassesEveryKeyAlsoThoseThatWouldMeanSomething) {
  auto seat = leaving("wait");
  ASSERT_TRUE(seat.shows("[ready]"));
  seat.type("\x03\x1a\r\x04");
  EXPECT_TRUE(seat.shows("[typed \x03\x1a\r\x04]"));
  seat.type("q");
  EXPECT_EQ(seat.finish(), (ExitStatus{kExited, 0}));
}

TEST(PersonTerminal, TellsWhenItsSizeChanged) {
  auto seat = leaving("wait");
  ASSERT_TRUE(seat.shows("[ready]"));
  ASSERT_TRUE(set_window_size(seat.terminal.controller.get(), {111, 22}));
  EXPECT_TRUE(seat.shows("[size 111x22]"));
}

/// A shell with job control, in which the program is a job.
TestTerminal job_leaving(const std::string& way) {
  return TestTerminal{
      {"sh", "-c", "set -m; \"$0\" leave \"$1\"; echo '[shell]'; read line; fg; echo '[end]'", SEATED_PROGRAM, way}};
}

TEST(PersonTerminal, IsGivenBackWhileWeAreSuspendedAndTakenAgain) {
  for (const auto* way : {"wait", "suspend"}) {
    auto seat = job_leaving(way);
    ASSERT_TRUE(seat.shows("[ready]"));
    if (way == std::string_view{"wait"}) ::kill(-::tcgetpgrp(seat.terminal.controller.get()), SIGTSTP);
    ASSERT_TRUE(seat.shows("[shell]"));
    EXPECT_TRUE(seat.is_as_before());
    EXPECT_LT(seat.screen.find(kRestored), seat.screen.find("[shell]"));
    EXPECT_FALSE(seat.screen.contains("[continued]"));
    seat.type("\r");
    ASSERT_TRUE(seat.shows("[continued]"));
    EXPECT_TRUE(seat.is_raw());
    seat.type("q");
    EXPECT_TRUE(seat.shows("[end]"));
    EXPECT_EQ(seat.finish(), (ExitStatus{kExited, 0}));
    EXPECT_TRUE(seat.is_as_before());
  }
}

TEST(PersonTerminal, IsNotSuspendedWhereNobodyCouldContinueUs) {
  auto seat = leaving("suspend");
  ASSERT_TRUE(seat.shows("[continued]"));
  EXPECT_TRUE(seat.is_raw());
  seat.type("q");
  EXPECT_EQ(seat.finish(), (ExitStatus{kExited, 0}));
}

TEST(PersonTerminal, IsTakenAgainAfterAStopItCouldNotNotice) {
  auto seat = leaving("wait");
  ASSERT_TRUE(seat.shows("[ready]"));
  ::kill(seat.process.pid, SIGSTOP);
  ASSERT_TRUE(seat.stops());
  ASSERT_EQ(::tcsetattr(seat.terminal.peer.get(), TCSANOW, &seat.before), 0);  // as a shell does
  ::kill(seat.process.pid, SIGCONT);
  EXPECT_TRUE(seat.shows("[continued]"));
  EXPECT_TRUE(seat.is_raw());
}

TEST(PersonTerminal, LeavesTheFlagsThatTheShellSharesAlone) {
  auto seat = leaving("wait");
  ASSERT_TRUE(seat.shows("[ready]"));
  EXPECT_EQ(::fcntl(seat.terminal.peer.get(), F_GETFL) & O_NONBLOCK, 0) << "the program holds a copy of this one";
}

TEST(PersonTerminal, NoticesThatItIsGone) {
  auto seat = leaving("orderly");
  ASSERT_TRUE(seat.shows("[ready]"));
  seat.terminal.peer.reset();
  seat.terminal.controller.reset();  // the window was closed
  pollfd ended{.fd = seat.process.pidfd.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&ended, 1, TestTerminal::kDeadlineMs), 1);
}

class Deaf final : public UserTerminalListener {
  void on_typed(std::string_view) override {}
  void on_written(std::size_t) override {}
  void on_resized(WindowSize) override {}
  void on_continued() override {}
  void on_closed(const std::string&) override {}
};

TEST(PersonTerminal, IsRefusedWhereThereIsNone) {
  const UniqueFd nothing{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  net::AsioLoop loop;
  Deaf deaf;
  EXPECT_FALSE(UserTerminal::is_one(nothing.get(), nothing.get()));
  const auto opened = UserTerminal::open(loop, deaf, nothing.get(), nothing.get());
  ASSERT_FALSE(opened);
  EXPECT_TRUE(is(opened.error(), Errc::NotATerminal));
}

TEST(PersonTerminal, HoldsNoMoreThanItsBoundForATerminalThatTakesNothing) {
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

TEST(Forwarding, LosesNothingWhenTheTerminalIsSlow) {
  TestTerminal seat{{SEATED_PROGRAM, "forward", "sh", "-c", "stty raw -echo; seq -s , 1 300000; echo done; exit 6"}};
  ASSERT_TRUE(seat.shows("done"));  // reads 4 KB at a time: slower than the child writes
  std::string expected;
  for (int i = 1; i <= 300'000; ++i) expected += std::to_string(i) + (i < 300'000 ? "," : "\ndone\n");
  EXPECT_EQ(seat.finish(), (ExitStatus{kExited, 6}));
  EXPECT_EQ(seat.screen, expected);
  EXPECT_TRUE(seat.is_as_before());
}

TEST(Forwarding, BringsKeysAndSizesToTheChild) {
  TestTerminal seat{{SEATED_PROGRAM, "forward", "sh", "-c", "stty size; read line; stty size; echo \"<$line>\""},
                    {70, 20}};
  ASSERT_TRUE(seat.shows("20 70"));
  ASSERT_TRUE(set_window_size(seat.terminal.controller.get(), {90, 40}));
  seat.type("hello\r");
  EXPECT_TRUE(seat.shows("<hello>"));
  seat.finish();
}

}  // namespace
}  // namespace relay::pty
