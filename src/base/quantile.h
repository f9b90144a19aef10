/// The middle of many measurements, and their worst.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace relay {

/// The value below which that share of the others lies; 0 of nothing.
inline double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

}  // namespace relay
