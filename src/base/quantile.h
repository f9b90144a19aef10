/// Quantiles of measurements, such as the median and the 99th percentile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace relay {

/// The value at that share of the sorted values; 0 when there are none.
inline double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

}  // namespace relay
