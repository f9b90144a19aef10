/// scripted_agent: a fake coding agent. README.md describes it.
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "base/format.h"
#include "scripted_agent/agent.h"

namespace {

using namespace relay;
using namespace relay::scripted_agent;

constexpr Millis kEscapeTime{25};  // an ESC without more bytes for this time is the key

volatile sig_atomic_t resized = 0;

/// Keeps the terminal in raw mode during its lifetime.
class RawTerminal {
 public:
  RawTerminal() {
    ::tcgetattr(0, &before_);
    termios raw = before_;
    ::cfmakeraw(&raw);
    ::tcsetattr(0, TCSANOW, &raw);
  }
  ~RawTerminal() { ::tcsetattr(0, TCSANOW, &before_); }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  termios before_{};
};

winsize size() {
  winsize now{};
  ::ioctl(0, TIOCGWINSZ, &now);
  return now;
}

void write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(1, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void note_bytes(const Journal& journal, std::string_view bytes) {
  std::string hex;
  for (const char byte : bytes) hex += format("{:02x}", static_cast<unsigned char>(byte));
  journal.note("bytes", {{"hex", hex}});
}

std::optional<Millis> timeout(const Agent& agent, const KeyReader& keys, SteadyTime now) {
  std::optional<Millis> limit;
  if (keys.has_pending_escape()) limit = kEscapeTime;
  if (const auto at = agent.wake_at())
    limit = std::min(limit.value_or(Millis::max()), std::max(Millis{0}, std::chrono::ceil<Millis>(*at - now)));
  return limit;
}

/// Waits for input or a resize. SIGWINCH is blocked elsewhere, so that none is missed before the wait.
int wait_for_input(std::optional<Millis> limit) {
  pollfd input{.fd = 0, .events = POLLIN, .revents = 0};
  sigset_t none;
  ::sigemptyset(&none);
  timespec time{};
  if (limit) time = {.tv_sec = limit->count() / 1000, .tv_nsec = limit->count() % 1000 * 1'000'000};
  return ::ppoll(&input, 1, limit ? &time : nullptr, &none);
}

void run(Agent& agent, const Journal& journal) {
  const SystemClock clock;
  KeyReader keys;
  agent.start(size().ws_col, size().ws_row);
  while (true) {
    while (agent.has_output()) write_all(agent.take_output());
    if (agent.finished()) return;
    const int ready = wait_for_input(timeout(agent, keys, clock.now().steady));
    const auto now = clock.now().steady;
    if (std::exchange(resized, 0) != 0) agent.on_resize(size().ws_col, size().ws_row);
    if (ready > 0) {
      std::array<char, 4096> block;
      const auto count = ::read(0, block.data(), block.size());
      if (count == 0 || (count < 0 && errno != EINTR)) return;
      const std::string_view bytes{block.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
      note_bytes(journal, bytes);
      for (const auto& key : keys.read(bytes)) agent.on_key(key, now);
    } else if (ready == 0) {
      for (const auto& key : keys.flush()) agent.on_key(key, now);
    }
    if (const auto at = agent.wake_at(); at && now >= *at) agent.on_time(now);
  }
}

Result<int> start(const std::vector<std::string>& arguments) {
  const auto options = RELAY_TRY(parse_options(arguments));
  Script script;
  if (!options.script_path.empty()) {
    std::ifstream file{options.script_path};
    if (!file) return fail(format("cannot read the script {}", options.script_path));
    script = RELAY_TRY(parse_script(std::string{std::istreambuf_iterator<char>{file}, {}}));
  }
  const Journal journal = options.log_path.empty() ? Journal{} : RELAY_TRY(Journal::open(options.log_path));
  struct sigaction on_resize{};
  on_resize.sa_handler = [](int) { resized = 1; };
  ::sigaction(SIGWINCH, &on_resize, nullptr);
  sigset_t resizes;
  ::sigemptyset(&resizes);
  ::sigaddset(&resizes, SIGWINCH);
  ::sigprocmask(SIG_BLOCK, &resizes, nullptr);
  if (options.on_terminate == Options::OnTerminate::Ignore) {
    ::signal(SIGTERM, SIG_IGN);
    ::signal(SIGHUP, SIG_IGN);
  }
  const RawTerminal raw;
  Agent agent{options, std::move(script), journal};
  run(agent, journal);
  write_all(agent.farewell());
  return agent.exit_code();
}

}  // namespace

int main(int argc, char** argv) {
  const auto code = start({argv + 1, argv + argc});
  if (code) return *code;
  std::fprintf(stderr, "%s\n%s", code.error().message().c_str(), kUsage);
  return 2;
}
