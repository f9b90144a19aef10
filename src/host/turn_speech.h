/// What was heard of the agent's record in the turn that goes on, so that its screen, read from the middle of a turn on, says
/// nothing a second time.
///
/// Why by words: the same command stands at different places of record and screen, and is wrapped on one of them.
/// Threading: loop thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "speech/utterance.h"

namespace relay::host {

class TurnSpeech {
 public:
  static constexpr std::size_t kMaxHeard = 256;

  void begin_turn() { heard_.clear(); }
  void add(const speech::Utterance& utterance);
  /// Was it heard, and not taken yet? An agent may say the same thing twice.
  bool take(const speech::Utterance& utterance);

 private:
  using Digest = std::array<std::uint8_t, 32>;
  static Digest digest_of(const speech::Utterance& utterance);

  std::deque<Digest> heard_;
};

}  // namespace relay::host
