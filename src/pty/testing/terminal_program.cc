/// pty_seated_program: takes a terminal and exits in every possible way. For the tests in this module.
///
///   leave HOW        raw mode, then: return, exit, quick-exit, throw, abort, crash, overflow, wait (for a signal),
///                    orderly (SIGTERM ends the loop), suspend (by itself)
///   forward CMD...   a Forwarder around CMD
///   hold CMD...      CMD in a pseudo-terminal; prints its process id and waits

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "base/format.h"
#include "net/signals.h"
#include "pty/testing/forwarder.h"

namespace {

using namespace relay;
using namespace relay::pty;

class TerminalUser final : public UserTerminalListener {
 public:
  explicit TerminalUser(net::AsioLoop& loop) : loop_{loop} {}
  void on_typed(std::string_view bytes) override {
    print(format("typed {}", bytes));
    if (bytes.contains('q')) loop_.stop();
  }
  void on_written(std::size_t) override {}
  void on_resized(WindowSize size) override { print(format("size {}x{}", size.columns, size.rows)); }
  void on_continued() override { print("continued"); }
  void on_closed(const std::string&) override { loop_.stop(); }

  void print(const std::string& line) const { terminal->write("[" + line + "]"); }

  std::unique_ptr<UserTerminal> terminal;

 private:
  net::AsioLoop& loop_;
};

volatile int frames_left = 1 << 30;  // exceeds any stack

int overflow_stack(const volatile char* above) {
  volatile char block[4096];
  block[0] = above == nullptr ? '\0' : *above;
  frames_left = frames_left - 1;
  return frames_left == 0 ? 0 : overflow_stack(block) + block[0];
}

int leave(const std::string& how) {
  net::AsioLoop loop;
  TerminalUser user{loop};
  auto opened = UserTerminal::open(loop, user);
  if (!opened) return 3;
  user.terminal = std::move(*opened);
  if (!user.terminal->set_restore_bytes("\x18<restored>")) return 3;
  if (!user.terminal->enter_raw()) return 3;
  std::unique_ptr<net::Signals> signals;
  if (how == "orderly")
    signals = std::make_unique<net::Signals>(loop, std::initializer_list<int>{SIGTERM}, [&](int) { loop.stop(); });
  user.print("ready");
  if (how == "exit") std::exit(5);
  if (how == "quick-exit") std::quick_exit(6);
  if (how == "throw") throw std::runtime_error{"on purpose"};
  if (how == "abort") std::abort();
  if (how == "crash") ::raise(SIGSEGV);
  if (how == "overflow") return overflow_stack(nullptr);
  if (how == "suspend") loop.post([&] { user.terminal->suspend(); });
  if (how != "return") loop.run();
  return 0;
}

Command command_of(int argc, char** argv) {
  return {.argv = {argv + 2, argv + argc}, .environment = inherited_environment(), .directory = {}};
}

int forward(Command command) {
  net::AsioLoop loop;
  testing::Forwarder forwarder{loop};
  if (const auto started = forwarder.start(std::move(command)); !started) {
    std::fprintf(stderr, "%s\n", started.error().message().c_str());
    return 3;
  }
  loop.run();
  return forwarder.status ? forwarder.status->shell_code() : 3;
}

class NullListener final : public ProgramListener {
 public:
  void on_output(std::string_view) override {}
  void on_input_written(std::size_t) override {}
  void on_exit(const ExitStatus&) override {}
};

int hold(Command command) {
  net::AsioLoop loop;
  NullListener listener;
  const auto child = Child::spawn(loop, std::move(command), {}, listener);
  if (!child) return 3;
  std::printf("child %d.\n", (*child)->pid());
  std::fflush(stdout);
  loop.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string task = argc > 2 ? argv[1] : "";
  if (task == "leave") return leave(argv[2]);
  if (task == "forward") return forward(command_of(argc, argv));
  if (task == "hold") return hold(command_of(argc, argv));
  std::fputs("usage: pty_seated_program leave HOW | forward CMD... | hold CMD...\n", stderr);
  return 2;
}
