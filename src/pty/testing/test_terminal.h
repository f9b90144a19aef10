/// A person's terminal in a test, with a program running in it: types, looks, waits, with a deadline instead of sleeping.
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
    terminal = std::move(*opened);
    before = attributes();
    auto spawned =
        spawn(terminal.peer.get(), {.argv = std::move(argv), .environment = inherited_environment(), .directory = {}});
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
    RELAY_ASSERT(::write(terminal.controller.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }

  /// True once the text stood on the screen, counted from the start.
  bool shows(std::string_view text) {
    while (!screen.contains(text))
      if (!read_some(kDeadlineMs)) return false;
    return true;
  }

  /// Reads what is there now.
  void look() {
    while (read_some(0)) {}
  }

  /// Goes on reading until it ended, so that it never waits for us.
  ExitStatus finish() {
    for (bool ended = false; !ended;) {
      std::array<pollfd, 2> wait{{{.fd = process.pidfd.get(), .events = POLLIN, .revents = 0},
                                  {.fd = terminal.controller.get(), .events = POLLIN, .revents = 0}}};
      RELAY_ASSERT(::poll(wait.data(), wait.size(), kDeadlineMs) > 0);
      ended = wait[0].revents != 0;
      look();
    }
    int status = 0;
    ::waitpid(process.pid, &status, 0);
    process.pidfd.reset();
    return ExitStatus::from_wait(status);
  }

  /// True once the process is stopped.
  [[nodiscard]] bool stops() const {
    int status = 0;
    return ::waitpid(process.pid, &status, WUNTRACED) == process.pid && WIFSTOPPED(status);
  }

  [[nodiscard]] termios attributes() const {
    termios now{};
    RELAY_ASSERT(::tcgetattr(terminal.peer.get(), &now) == 0);
    return now;
  }
  [[nodiscard]] bool is_raw() const { return (attributes().c_lflag & (ICANON | ECHO)) == 0; }
  [[nodiscard]] bool is_as_before() const {
    const auto now = attributes();
    return now.c_iflag == before.c_iflag && now.c_oflag == before.c_oflag && now.c_cflag == before.c_cflag &&
           now.c_lflag == before.c_lflag && std::equal(now.c_cc, now.c_cc + NCCS, before.c_cc);
  }

  PseudoTerminal terminal;
  Spawned process;
  termios before{};
  std::string screen;

 private:
  bool read_some(int patience_ms) {
    pollfd wait{.fd = terminal.controller.get(), .events = POLLIN, .revents = 0};
    if (::poll(&wait, 1, patience_ms) <= 0) return false;
    std::array<char, 4096> block;
    const auto count = ::read(terminal.controller.get(), block.data(), block.size());
    if (count > 0) screen.append(block.data(), static_cast<std::size_t>(count));
    return count > 0;
  }
};

}  // namespace relay::pty::testing
