/// Agent output for throughput tests: recordings of real agents, and synthetic streams of the same kinds.
#pragma once

#include <string>
#include <vector>

#include "terminal/screen.h"

namespace relay::bench {

struct Tape {
  std::string profile;  // the profile to read it with
  terminal::Size size;
  std::string bytes;
};

/// One kind of output, made of one or more tapes.
struct Stream {
  std::string title;
  std::vector<Tape> tapes;

  [[nodiscard]] double megabytes() const;
};

/// Deterministic.
std::vector<Stream> all_streams();

}  // namespace relay::bench
