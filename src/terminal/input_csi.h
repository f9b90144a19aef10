/// Classifies one whole control sequence from the user's terminal.
#pragma once

#include <string>
#include <string_view>

#include "terminal/input_splitter.h"

namespace relay::terminal {

struct ClassifiedInput {
  InputKind kind = InputKind::Key;
  std::string text{};  // the text of the key, if any
};

/// `sequence` is a whole CSI sequence: ESC [ ... final.
ClassifiedInput classify_csi(std::string_view sequence);

}  // namespace relay::terminal
