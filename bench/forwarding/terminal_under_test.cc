#include "forwarding/terminal_under_test.h"

#include <poll.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <ctime>

#include "subjects/cores.h"
#include "workloads/driver.h"

namespace relay::bench {
namespace {

constexpr int kTimeoutMs = 30'000;

}  // namespace

Result<TerminalUnderTest> TerminalUnderTest::start(const pty::Command& command) {
  const OnServersCores there;
  auto terminal = RELAY_TRY(pty::PseudoTerminal::open({}));
  auto process = RELAY_TRY(pty::spawn(terminal.peer.get(), command));
  return TerminalUnderTest{std::move(terminal), std::move(process)};
}

TerminalUnderTest::~TerminalUnderTest() {
  if (!process_.pidfd) return;
  terminal_ = {};  // hangs up the processes inside
  ::kill(process_.pid, SIGKILL);
  ::waitpid(process_.pid, nullptr, 0);
}

Result<std::string_view> TerminalUnderTest::read_some() {
  static std::array<char, 64 * 1024> block;
  while (true) {
    const auto count = ::read(terminal_.controller.get(), block.data(), block.size());
    if (count > 0) return std::string_view{block.data(), static_cast<std::size_t>(count)};
    if (count < 0 && errno != EAGAIN && errno != EINTR) return fail_errno("the candidate has exited");
    pollfd readable{.fd = terminal_.controller.get(), .events = POLLIN, .revents = 0};
    if (::poll(&readable, 1, kTimeoutMs) == 0) return fail("no output for 30 s");
  }
}

Result<void> TerminalUnderTest::type(std::string_view text) {
  if (::write(terminal_.controller.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return fail_errno("cannot type");
  return {};
}

Result<double> TerminalUnderTest::keystroke() {
  const auto start = now();
  RELAY_TRY(type("k"));
  RELAY_TRY(read_some());
  return seconds_since(start) * 1e6;
}

Result<void> TerminalUnderTest::read_until(std::string_view text) {
  std::string output;
  while (!output.contains(text)) output += RELAY_TRY(read_some());
  return {};
}

Result<double> TerminalUnderTest::read_all(std::size_t bytes) {
  const auto start = now();
  for (std::size_t got = 0; got < bytes;) got += RELAY_TRY(read_some()).size();
  return seconds_since(start);
}

double TerminalUnderTest::cpu_seconds() const {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(process_.pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

}  // namespace relay::bench
