/// Compares instruction counts with the recorded ones: a table and the regressions. Pure.
///
/// Why counts: they do not depend on the load of the machine, so a higher count is always a change of the code.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "paths.h"

namespace relay::cost {

/// Instructions per unit, by path.
using Counts = std::map<std::string, double, std::less<>>;

struct Recorded {
  std::string built;  // compiler and machine; counts of another build cannot be compared
  Counts counts;
};

/// A line `built BUILD`, then a line `PATH COUNT` for each path. `#` starts a comment.
Result<Recorded> read_recorded(std::string_view text);
std::string write_recorded(std::span<const Path> paths, const Recorded& recorded);

/// Lines of path, units and instructions.
Result<Counts> read_measured(std::string_view text);

struct Comparison {
  std::string table;
  std::vector<std::string> regressions;   // paths that cost too much or are not recorded
  std::vector<std::string> improvements;  // paths that cost so much less that the record is outdated
};
/// Compares the measured paths.
Comparison compare(std::span<const Path> paths, const Counts& measured, const Counts& recorded);

}  // namespace relay::cost
