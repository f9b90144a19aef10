/// What one whole control sequence from a person's terminal is.
#pragma once

#include <string>
#include <string_view>

#include "terminal/input_splitter.h"

namespace relay::terminal {

struct ClassifiedInput {
  InputKind kind = InputKind::Key;
  std::string text{};  // the key's text, if it has any
};

/// `sequence` is a whole CSI sequence: ESC [ ... final.
ClassifiedInput classify_csi(std::string_view sequence);

}  // namespace relay::terminal
