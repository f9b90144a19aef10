/// Formats numbers for reports, with three significant digits.
#pragma once

#include <string>

#include "base/format.h"

namespace relay::bench {

inline std::string three_figures(double value) {
  if (value >= 100 || value == 0) return relay::format("{:.0f}", value);
  return relay::format("{:.{}f}", value, value >= 10 ? 1 : 2);
}

/// Uses k and M for large numbers.
inline std::string short_number(double value) {
  if (value >= 1e6) return three_figures(value / 1e6) + " M";
  if (value >= 1e4) return three_figures(value / 1e3) + " k";
  return three_figures(value);
}

}  // namespace relay::bench
