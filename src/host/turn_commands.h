/// The commands of the current turn by source, transcript or screen, so that none is executed twice when one source
/// replaces the other during a turn.
///
/// Why by text: a command has different positions in transcript and screen, and the screen wraps it.
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

  void start_turn();
  /// True when the command must be executed: it was not accepted from the screen. An agent may write it twice.
  bool accept_from_transcript(const commands::Command& command);
  /// Likewise. `replaces_transcript`: the screen is the source; otherwise it only repeats the transcript.
  bool accept_from_screen(const commands::Command& command, bool replaces_transcript);

 private:
  using Digest = std::array<std::uint8_t, 32>;
  static Digest digest_of(const commands::Command& command);

  static void add(std::deque<Digest>& digests, const Digest& digest);
  /// Removes one; true when there was one.
  static bool take(std::deque<Digest>& digests, const Digest& digest);

  std::deque<Digest> by_transcript_, by_screen_;
};

}  // namespace relay::host
