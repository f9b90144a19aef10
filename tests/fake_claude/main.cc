/// claude: a fake Claude Code with its native interfaces. README.md describes it.
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/format.h"
#include "fake_claude/claude.h"

namespace {

using namespace relay;
using namespace relay::fake_claude;
using scripted_agent::Journal;
using scripted_agent::KeyReader;

constexpr int kEscapeMs = 25;  // an ESC without more bytes for this time is the key

struct Options {
  std::string settings, script, log;
  bool inbox = true, hooks = true;
};

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto value = [&] { return i + 1 < arguments.size() ? arguments[++i] : std::string{}; };
    if (arguments[i] == "--settings") options.settings = value();
    if (arguments[i] == "--script") options.script = value();
    if (arguments[i] == "--log") options.log = value();
    if (arguments[i] == "--no-inbox") options.inbox = false;
    if (arguments[i] == "--no-hooks") options.hooks = false;
  }
  return options;
}

void write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(1, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

int timeout(const Claude& claude, const KeyReader& keys, SteadyTime now) {
  if (keys.has_pending_escape()) return kEscapeMs;
  const auto at = claude.wake_at();
  if (!at) return -1;
  return static_cast<int>(std::max<std::int64_t>(0, std::chrono::ceil<Millis>(*at - now).count()));
}

void run(Claude& claude, Inbox* inbox) {
  const SystemClock clock;
  KeyReader keys;
  claude.start();
  while (!claude.finished()) {
    write_all(claude.take_output());
    std::vector<pollfd> watched{{.fd = 0, .events = POLLIN, .revents = 0},
                                {.fd = claude.pending_hook(), .events = POLLIN, .revents = 0}};
    if (inbox != nullptr)
      for (const int fd : inbox->descriptors()) watched.push_back({.fd = fd, .events = POLLIN, .revents = 0});
    const int ready = ::poll(watched.data(), watched.size(), timeout(claude, keys, clock.now().steady));
    const auto now = clock.now().steady;
    if (watched[0].revents != 0) {
      std::array<char, 4096> block;
      const auto count = ::read(0, block.data(), block.size());
      if (count <= 0) return;
      for (const auto& key : keys.read({block.data(), static_cast<std::size_t>(count)})) claude.on_key(key, now);
    } else if (ready == 0) {
      for (const auto& key : keys.flush()) claude.on_key(key, now);
    }
    if (watched[1].revents != 0 && claude.pending_hook() == watched[1].fd) claude.on_hook_ready(now);
    if (inbox != nullptr)
      for (const auto& message : inbox->read()) claude.on_inbox_message(message, now);
    if (const auto at = claude.wake_at(); at && now >= *at) claude.on_time(now);
  }
}

Result<void> start(const Options& options) {
  const auto* config = std::getenv("CLAUDE_CONFIG_DIR");
  if (config == nullptr) return fail("CLAUDE_CONFIG_DIR is not set");
  const auto journal = RELAY_TRY(Journal::open(options.log));
  auto hooks = RELAY_TRY(Hooks::read(options.hooks ? options.settings : ""));
  SessionFiles files{config};
  const auto socket = format("{}/sessions/{}.sock", config, ::getpid());
  std::optional<Inbox> inbox;
  if (options.inbox) {
    inbox = RELAY_TRY(Inbox::open(socket));
    files.write_session_file(socket);
  }
  termios raw{};
  ::tcgetattr(0, &raw);
  ::cfmakeraw(&raw);
  ::tcsetattr(0, TCSANOW, &raw);
  Claude claude{std::move(hooks), std::move(files), read_rules(options.script), journal};
  run(claude, inbox ? &*inbox : nullptr);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const auto ran = start(parse_options({argv + 1, argv + argc}));
  if (ran) return 0;
  std::fprintf(stderr, "%s\n", ran.error().message().c_str());
  return 2;
}
