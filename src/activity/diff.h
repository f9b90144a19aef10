/// How a text was changed, as a unified diff.
///
/// Of an edit a record often holds only the piece that was replaced: the numbers of the lines then count within that
/// piece. What was kept at its beginning and end is left out but for three lines; the middle stands there once with `-`
/// and once with `+`. No search for the smallest diff: the agent said itself what it replaced by what.
/// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace relay::activity {

struct Diff {
  std::string text = {};           // perhaps cut
  std::int64_t lines_changed = 0;  // removed and added, counted before it was cut
};

/// Empty when they are equal.
Diff diff_between(std::string_view before, std::string_view after);

/// A diff somebody else wrote: without the lines that name files, counted, cut.
Diff diff_from(std::string_view unified);

}  // namespace relay::activity
