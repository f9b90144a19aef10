#include "profiles/testing/replay.h"

#include <cmath>

namespace relay::profiles::testing {
namespace {

constexpr std::size_t kPieceBytes = 1'009;
constexpr double kFinalDelay = 5;  // seconds: a last update when everything has settled

SteadyTime at(double seconds) {
  return SteadyTime{std::chrono::nanoseconds{static_cast<std::int64_t>(std::llround(seconds * 1e9))}};
}

std::vector<std::string_view> pieces(std::string_view bytes, Cut cut) {
  const std::size_t step = cut == Cut::EveryByte ? 1
                           : cut == Cut::Halves  ? bytes.size() / 2 + 1
                           : cut == Cut::Pieces  ? kPieceBytes
                                                 : bytes.size();
  std::vector<std::string_view> all;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(step, bytes.size()))) all.push_back(bytes.substr(0, step));
  return all;
}

}  // namespace

State Watched::state_at(double seconds) const {
  State state = State::Unknown;
  for (const auto& moment : moments) {
    if (moment.seconds > seconds) break;
    if (const auto* changed = std::get_if<StateChanged>(&moment.observation)) state = changed->estimate.state;
  }
  return state;
}

std::vector<commands::SendCommand> Watched::commands() const {
  std::vector<commands::SendCommand> all;
  for (const auto& moment : moments) {
    const auto* seen = std::get_if<CommandSeen>(&moment.observation);
    if (seen == nullptr) continue;
    if (const auto* command = std::get_if<commands::SendCommand>(&seen->command)) all.push_back(*command);
  }
  return all;
}

Watched watch(const CompiledProfile& compiled, const terminal::testing::Recording& recording, Cut cut) {
  terminal::Screen screen{recording.size};
  ScreenWatcher watcher{compiled};
  Watched watched;
  const auto look = [&](double seconds) {
    for (auto& observation : watcher.update(screen, at(seconds)))
      watched.moments.push_back({seconds, std::move(observation)});
  };
  const auto advance_to = [&](double seconds) {
    while (const auto due = watcher.next_update_at()) {
      const double when = std::chrono::duration<double>(due->time_since_epoch()).count();
      if (when >= seconds) break;
      look(when);
    }
  };
  bool was_alternate = false;
  double last = 0;
  for (const auto& event : recording.events) {
    advance_to(event.seconds);
    last = event.seconds;
    if (event.kind == 'r') screen.resize(terminal::testing::size_of(event.data));
    if (event.kind == 'o') {
      for (const auto piece : pieces(event.data, cut)) {
        screen.feed(piece);
        if (cut != Cut::EveryByte && !(was_alternate && !screen.alternate())) look(event.seconds);
      }
    }
    // The screen after a full-screen agent ended is not the agent's.
    if (was_alternate && !screen.alternate()) return watched;
    was_alternate = screen.alternate();
    look(event.seconds);
  }
  advance_to(last + kFinalDelay);
  return watched;
}

}  // namespace relay::profiles::testing
