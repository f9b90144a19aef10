/// What agents write, to be read as fast as possible: recordings of real ones, and streams made up of their kinds of output.
#pragma once

#include <string>
#include <vector>

#include "terminal/screen.h"

namespace relay::bench {

struct Tape {
  std::string profile;  // of the agent that wrote it, or whose eyes look at it
  terminal::Size size;
  std::string bytes;
};

/// One kind of output, read from the first tape to the last.
struct Stream {
  std::string title;
  std::vector<Tape> tapes;

  [[nodiscard]] double megabytes() const;
};

/// The same in every run.
std::vector<Stream> all_streams();

}  // namespace relay::bench
