/// Notifies the user, by a sequence for the user's own terminal, that the agent in it waits for input.
///
/// Why not at once: a rule answers a prompt within milliseconds, and such a prompt needs no notification.
/// The first approval by a rule is notified too, so that the user knows why no prompt appeared.
/// Invariants: each prompt is notified once, after it has been open for kNotifyDelay; its text is sanitized and short.
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

/// The sequences terminals support: OSC 9 (iTerm2, WezTerm, kitty, Windows Terminal), OSC 777 (foot, urxvt, VTE with a
/// patch).
enum class TerminalNotification : std::uint8_t { Off, Osc9, Osc777 };

class TerminalNotifier {
 public:
  static constexpr Millis kNotifyDelay{2'000};

  TerminalNotifier(TerminalNotification notice, std::string agent) : notice_{notice}, agent_{std::move(agent)} {}

  /// The bytes for the user's terminal, often none. `open`: all prompts without an answer.
  std::string notification(const std::vector<events::Event>& open, SteadyTime now);
  /// A rule approved a permission. Only the first is notified, with the next call of `notification`.
  void note_approval(const std::string& rule);
  /// When to call again without a change.
  [[nodiscard]] std::optional<SteadyTime> due() const;

 private:
  struct Request {
    SteadyTime since{};
    bool notified = false;
  };
  TerminalNotification notice_;
  std::string agent_;
  std::map<std::string, Request> requests_;
  std::optional<std::string> approval_;  // empty: notified
};

}  // namespace relay::host
