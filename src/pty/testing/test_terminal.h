/// A user's terminal in a test, with a program running in it. Has deadlines instead of sleeps.
#pragma once

#include <poll.h>
#include <sys/wait.h>
#include <termios.h>

#include <array>
#include <csignal>
#include <string>

#include "pty/exit_status.h"
#include "pty/pseudo_terminal.h"
#include "pty/spawn.h"

namespace relay::pty::testing {

class TestTerminal {
 public:
  static constexpr int kDeadlineMs = 30'000;  // a sanitizer's first report loads its symbolizer from a cold disk

  explicit TestTerminal(std::vector<std::string> argv, WindowSize size = {}) {
    auto opened = PseudoTerminal::open(size);
    RELAY_ASSERT(opened);
    pty = std::move(*opened);
    before = attributes();
    auto spawned =
        spawn(pty.peer.get(), {.argv = std::move(argv), .environment = inherited_environment(), .directory = {}});
    RELAY_ASSERT(spawned);
    process = std::move(*spawned);
  }
  ~TestTerminal() {
    if (!process.pidfd) return;
    ::kill(process.pid, SIGKILL);
    ::waitpid(process.pid, nullptr, 0);
  }
  TestTerminal(const TestTerminal&) = delete;
  TestTerminal& operator=(const TestTerminal&) = delete;

  void type(std::string_view text) const {
    RELAY_ASSERT(::write(pty.controller.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }

  /// Waits until the text has been on the screen at any time; false after the deadline.
  bool wait_for(std::string_view text) {
    while (!screen.contains(text))
      if (!read_some(kDeadlineMs)) return false;
    return true;
  }

  /// Reads the available output.
  void read_available() {
    while (read_some(0)) {}
  }

  /// Reads until the program ended, so that it never blocks on us.
  ExitStatus finish() {
    for (bool ended = false; !ended;) {
      std::array<pollfd, 2> wait{{{.fd = process.pidfd.get(), .events = POLLIN, .revents = 0},
                                  {.fd = pty.controller.get(), .events = POLLIN, .revents = 0}}};
      RELAY_ASSERT(::poll(wait.data(), wait.size(), kDeadlineMs) > 0);
      ended = wait[0].revents != 0;
      read_available();
    }
    int status = 0;
    ::waitpid(process.pid, &status, 0);
    process.pidfd.reset();
    return ExitStatus::from_wait(status);
  }

  /// Waits until the process is stopped.
  [[nodiscard]] bool wait_stopped() const {
    int status = 0;
    return ::waitpid(process.pid, &status, WUNTRACED) == process.pid && WIFSTOPPED(status);
  }

  [[nodiscard]] termios attributes() const {
    termios now{};
    RELAY_ASSERT(::tcgetattr(pty.peer.get(), &now) == 0);
    return now;
  }
  [[nodiscard]] bool is_raw() const { return (attributes().c_lflag & (ICANON | ECHO)) == 0; }
  [[nodiscard]] bool is_restored() const {
    const auto now = attributes();
    return now.c_iflag == before.c_iflag && now.c_oflag == before.c_oflag && now.c_cflag == before.c_cflag &&
           now.c_lflag == before.c_lflag && std::equal(now.c_cc, now.c_cc + NCCS, before.c_cc);
  }

  PseudoTerminal pty;
  Spawned process;
  termios before{};
  std::string screen;

 private:
  bool read_some(int timeout_ms) {
    pollfd wait{.fd = pty.controller.get(), .events = POLLIN, .revents = 0};
    if (::poll(&wait, 1, timeout_ms) <= 0) return false;
    std::array<char, 4096> block;
    const auto count = ::read(pty.controller.get(), block.data(), block.size());
    if (count > 0) screen.append(block.data(), static_cast<std::size_t>(count));
    return count > 0;
  }
};

}  // namespace relay::pty::testing
