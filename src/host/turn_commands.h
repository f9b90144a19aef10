/// The commands the agent wrote in the current turn, by its transcript and by its screen, so that none is executed
/// twice when one source replaces the other in the middle of a turn.
///
/// Why by text: the same command has different positions in transcript and screen, and is wrapped on one of them.
/// Threading: loop thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "commands/command.h"

namespace relay::host {

class TurnCommands {
 public:
  static constexpr std::size_t kMaxCommands = 256;

  void begin_turn();
  /// True when it is to be executed: the screen did not show it first. An agent may write the same command twice.
  bool accept_from_transcript(const commands::Command& utterance);
  /// Likewise. `replaces_record`: the screen is the source now; otherwise it only repeats the transcript.
  bool accept_from_screen(const commands::Command& utterance, bool replaces_record);

 private:
  using Digest = std::array<std::uint8_t, 32>;
  static Digest digest_of(const commands::Command& utterance);

  static void add(std::deque<Digest>& said, const Digest& what);
  /// True, once, for a command that is listed there.
  static bool take(std::deque<Digest>& said, const Digest& what);

  std::deque<Digest> by_record_, by_screen_;
};

}  // namespace relay::host
