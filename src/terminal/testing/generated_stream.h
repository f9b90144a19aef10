/// Random terminal streams for property tests: mostly meaningful, sometimes absurd.
#pragma once

#include <string>

#include "base/random.h"
#include "terminal/geometry.h"

namespace relay::terminal::testing {

enum class Vocabulary {
  Shared,  // only sequences that every terminal interprets alike, for comparison with another emulator
  Full,    // all supported sequences, and malformed sequences and bytes
};

/// `pieces` words, moves and edits; the same seed gives the same stream.
std::string generated_stream(Random& random, Size size, int pieces, Vocabulary vocabulary);

}  // namespace relay::terminal::testing
