/// What every benchmark says of itself.
#pragma once

#include <string>

#include "base/quantile.h"

namespace relay::bench {

/// Processors and kernel, in one line.
std::string machine();

}  // namespace relay::bench
