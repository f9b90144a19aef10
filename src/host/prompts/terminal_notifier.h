/// Tells the person, by a sequence for his own terminal, that the agent in it waits for him.
///
/// Why not at once: what a rule answers is answered within moments, and nobody should be called for it.
/// A rule that approves something for the first time is told as well, so that the person knows why nothing was asked.
/// Invariants: each request rings once, and only when it has stood for kPatience; what the agent says in it is made
///   harmless and short.
/// Pure: the clock is an argument. Threading: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "events/event.h"

namespace relay::host {

/// What terminals understand: OSC 9 (iTerm2, WezTerm, kitty, Windows Terminal), OSC 777 (foot, urxvt, VTE with a patch).
enum class TerminalNotification : std::uint8_t { Off, Osc9, Osc777 };

class TerminalNotifier {
 public:
  static constexpr Millis kTimeout{2'000};

  TerminalNotifier(TerminalNotification notice, std::string agent) : notice_{notice}, agent_{std::move(agent)} {}

  /// What to write to the person's terminal now; mostly nothing. `open`: all that is asked and not answered.
  std::string notification(const std::vector<events::Event>& open, SteadyTime now);
  /// A rule approved something. Only the first is told, with the next ring.
  void note_approval(const std::string& rule);
  /// When to ask again, if nothing changes.
  [[nodiscard]] std::optional<SteadyTime> due() const;

 private:
  struct Request {
    SteadyTime since{};
    bool rung = false;
  };
  TerminalNotification notice_;
  std::string agent_;
  std::map<std::string, Request> requests_;
  std::optional<std::string> approval_;  // empty text: told
};

}  // namespace relay::host
