/// The machine, as every benchmark report names it.
#pragma once

#include <string>

#include "base/quantile.h"

namespace relay::bench {

/// Processors and kernel on one line.
std::string machine();

}  // namespace relay::bench
