// terminal + profile + speech: how many megabytes of an agent's output a core reads per second.
//
// The recordings are fed as they came, and as a host reads them (in turns), with a look after each turn or at most every
// kLookEvery of the agent's own time, as a host does it.
#include <chrono>
#include <cstdio>

#include "base/format.h"
#include "profiles/shelf.h"
#include "profiles/watcher.h"
#include "terminal/testing/recording.h"

namespace relay {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kTurnBytes = 4 * 1024;  // what the kernel hands over at once
constexpr int kRounds = 5;

struct Tape {
  std::string profile;
  terminal::Size size;
  std::string bytes;
};

std::vector<Tape> tapes() {
  std::vector<Tape> all;
  for (const auto& path : terminal::testing::recordings_below(RELAY_AGENTS)) {
    const auto recording = terminal::testing::read_recording(path);
    if (!recording) continue;
    const auto relative = path.lexically_relative(RELAY_AGENTS);
    all.push_back({relative.begin()->string(), recording->size, recording->output()});
  }
  return all;
}

Tape flood(const std::string& profile) {
  Tape tape{profile, {120, 40}, {}};
  for (int line = 0; tape.bytes.size() < (16 << 20); ++line)
    tape.bytes += format("\x1b[32m[{:08}]\x1b[0m compiling src/module_{}/file_{}.cc with a few words behind it\r\n",
                         line, line % 97, line % 1013);
  return tape;
}

enum class Looking { Never, EveryTurn, Paced };

double seconds_of(const std::vector<Tape>& all, Looking looking, std::size_t& looks) {
  const auto eyes = profiles::Eyes::open(*profiles::profile_named(all.front().profile));
  const auto begin = Clock::now();
  for (const auto& tape : all) {
    profiles::Watcher watcher{*eyes};
    terminal::Screen screen{tape.size};
    SteadyTime last{};
    std::uint64_t seen_rows = 0;
    for (std::size_t at = 0; at < tape.bytes.size(); at += kTurnBytes) {
      screen.feed(std::string_view{tape.bytes}.substr(at, kTurnBytes));
      (void)screen.take_reports();
      const auto now = Clock::now();
      const bool due =
          now - last >= profiles::kLookEvery || screen.scrollback().end() - seen_rows > profiles::kHistoryRows / 2;
      if (looking == Looking::Never || (looking == Looking::Paced && !due)) continue;
      last = now;
      seen_rows = screen.scrollback().end();
      (void)watcher.look(screen, now);
      ++looks;
    }
  }
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void report(const char* what, const std::vector<Tape>& all) {
  std::size_t bytes = 0;
  for (const auto& tape : all) bytes += tape.bytes.size();
  for (const auto& [name, looking] : {std::pair{"terminal alone", Looking::Never},
                                      {"looked at every turn", Looking::EveryTurn},
                                      {"looked at as a host does", Looking::Paced}}) {
    double best = 1e9;
    std::size_t looks = 0;
    for (int round = 0; round < kRounds; ++round) {
      looks = 0;
      best = std::min(best, seconds_of(all, looking, looks));
    }
    std::printf("%-14s %-26s %7.1f MB/s  %6zu looks, %6.1f us each\n", what, name,
                static_cast<double>(bytes) / 1e6 / best, looks,
                looks == 0 ? 0.0 : best * 1e6 / static_cast<double>(looks));
  }
}

}  // namespace
}  // namespace relay

int main() {
  using namespace relay;
  const auto all = tapes();
  for (const auto* cli : {"claude", "codex", "gemini", "opencode"}) {
    std::vector<Tape> own;
    for (const auto& tape : all)
      if (tape.profile == cli) own.push_back(tape);
    report(cli, own);
  }
  report("flood", {flood("claude")});
  return 0;
}
