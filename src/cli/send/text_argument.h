/// A text argument: the words of the command line, or stdin for `-`.
#pragma once

#include <string>

#include "base/result.h"

namespace relay::cli {

/// Returns the text, or all of stdin when it is `-`. Fails with TooLarge beyond the size of a frame.
Result<std::string> read_text_argument(std::string typed);

}  // namespace relay::cli
