/// What the agent said in the turn that goes on, by its record and by its screen, so that nothing is carried out twice when
/// one takes the other's place in the middle of a turn.
///
/// Why by words: the same command stands at different places of record and screen, and is wrapped on one of them.
/// Threading: loop thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "commands/command.h"

namespace relay::host {

class TurnSpeech {
 public:
  static constexpr std::size_t kMaxHeard = 256;

  void begin_turn();
  /// To be carried out? Not when the screen said it first; an agent may say the same thing twice.
  bool hear_in_record(const commands::Command& utterance);
  /// Likewise. `replaces_record`: the screen is heard now; otherwise it only repeats what the record says.
  bool hear_on_screen(const commands::Command& utterance, bool replaces_record);

 private:
  using Digest = std::array<std::uint8_t, 32>;
  static Digest digest_of(const commands::Command& utterance);

  static void add(std::deque<Digest>& said, const Digest& what);
  /// Was it said there, and not taken yet?
  static bool take(std::deque<Digest>& said, const Digest& what);

  std::deque<Digest> by_record_, by_screen_;
};

}  // namespace relay::host
