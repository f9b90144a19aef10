/// Compares counts of instructions with the recorded ones: a table, and the failures. Pure.
///
/// Why counts: they are the same on a busy and an idle machine, so a higher count is always a change of the code.
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
  std::string built;  // by which compiler, for which machine; another one's counts cannot be compared
  Counts counts;
};

/// A line for each path: its name and the count; one before them: `built`, and by what. `#` begins a remark.
Result<Recorded> read_recorded(std::string_view text);
std::string write_recorded(std::span<const Path> paths, const Recorded& recorded);

/// What was measured: lines of path, units and instructions.
Result<Counts> read_measured(std::string_view text);

struct Verdict {
  std::string table;
  std::vector<std::string> complaints;  // a sentence for each path that costs too much, or was not recorded
  std::vector<std::string> remarks;     // a sentence for each that costs so much less that the record lags behind
};
/// Judges the paths that were measured.
Verdict judge(std::span<const Path> paths, const Counts& measured, const Counts& recorded);

}  // namespace relay::cost
