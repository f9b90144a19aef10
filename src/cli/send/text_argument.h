/// A text as a person gives it: typed, or on stdin with `-`.
#pragma once

#include <string>

#include "base/result.h"

namespace relay::cli {

/// The text itself, or all of stdin when it is `-`. Larger than a frame is an error TooLarge.
Result<std::string> given_text(std::string typed);

}  // namespace relay::cli
