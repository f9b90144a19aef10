#include "pty/terminal_guard.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>

#include "pty/pseudo_terminal.h"

namespace relay::pty {
namespace {

class TerminalGuardTest : public ::testing::Test {
 protected:
  TerminalGuardTest() : terminal{PseudoTerminal::open({}).value()} {
    ::tcgetattr(terminal.peer.get(), &found);
    flags = ::fcntl(terminal.peer.get(), F_GETFL);
  }
  [[nodiscard]] TerminalGuard::SavedState all() const {
    const int fd = terminal.peer.get();
    return {.input = fd, .output = fd, .attributes = found, .input_flags = flags, .output_flags = flags};
  }
  void change() const {
    termios raw = found;
    ::cfmakeraw(&raw);
    ASSERT_EQ(::tcsetattr(terminal.peer.get(), TCSANOW, &raw), 0);
    ASSERT_EQ(::fcntl(terminal.peer.get(), F_SETFL, flags | O_NONBLOCK), 0);
  }
  [[nodiscard]] bool is_as_found() const {
    termios now{};
    ::tcgetattr(terminal.peer.get(), &now);
    return now.c_lflag == found.c_lflag && now.c_iflag == found.c_iflag && now.c_oflag == found.c_oflag &&
           ::fcntl(terminal.peer.get(), F_GETFL) == flags;
  }
  [[nodiscard]] std::string screen() const {
    std::array<char, 4096> block;
    const auto count = ::read(terminal.controller.get(), block.data(), block.size());
    return count > 0 ? std::string{block.data(), static_cast<std::size_t>(count)} : std::string{};
  }

  PseudoTerminal terminal;
  termios found{};
  int flags = 0;
};

TEST_F(TerminalGuardTest, RestoresAttributesAndFlagsAndWritesItsBytesOnce) {
  {
    TerminalGuard guard{all()};
    ASSERT_TRUE(guard.set_restore_bytes("first"));
    ASSERT_TRUE(guard.set_restore_bytes("second"));
    guard.arm();
    change();
    EXPECT_FALSE(is_as_found());
    guard.restore();
    EXPECT_TRUE(is_as_found());
  }
  EXPECT_EQ(screen(), "second");
}

TEST_F(TerminalGuardTest, KeepsATerminalUnchangedWhenNotArmed) {
  {
    TerminalGuard guard{all()};
    ASSERT_TRUE(guard.set_restore_bytes("words"));
  }
  EXPECT_EQ(screen(), "");
}

TEST_F(TerminalGuardTest, CanBeArmedAgain) {
  TerminalGuard guard{all()};
  guard.arm();
  guard.restore();
  guard.arm();
  change();
  guard.restore();
  EXPECT_TRUE(is_as_found());
}

TEST_F(TerminalGuardTest, RefusesTooManyBytes) {
  TerminalGuard guard{all()};
  EXPECT_FALSE(guard.set_restore_bytes(std::string(kMaxRestoreBytes + 1, 'x')));
  EXPECT_TRUE(guard.set_restore_bytes(std::string(kMaxRestoreBytes, 'x')));
}

TEST_F(TerminalGuardTest, BoundsTheWaitForABlockedTerminal) {
  TerminalGuard guard{all()};
  ASSERT_TRUE(guard.set_restore_bytes("words"));
  guard.arm();
  change();
  const std::string block(64 * 1024, 'x');
  while (::write(terminal.peer.get(), block.data(), block.size()) > 0) {}
  guard.restore();
  EXPECT_TRUE(is_as_found());
}

TEST_F(TerminalGuardTest, RestoresSignalActions) {
  const auto own = ::signal(SIGINT, SIG_IGN);
  {
    const TerminalGuard guard{all()};
    struct sigaction now{};
    ::sigaction(SIGINT, nullptr, &now);
    EXPECT_EQ(now.sa_handler, SIG_IGN) << "an ignored signal stays ignored";
    ::sigaction(SIGTERM, nullptr, &now);
    EXPECT_NE(now.sa_handler, SIG_DFL);
  }
  struct sigaction after{};
  ::sigaction(SIGTERM, nullptr, &after);
  EXPECT_EQ(after.sa_handler, SIG_DFL);
  ::signal(SIGINT, own);
}

}  // namespace
}  // namespace relay::pty
