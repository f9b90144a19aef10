/// Numbers that every benchmark needs.
#pragma once

#include <string>
#include <vector>

namespace relay::bench {

/// The value below which that share of the others lies; 0 of nothing.
double quantile(std::vector<double> values, double share);
/// Processors and kernel, in one line.
std::string machine();

}  // namespace relay::bench
