/// Computes the change of a text as a unified diff.
///
/// A transcript often has only the replaced part of a file: line numbers then count within that part. Common lines at
/// start and end are omitted except three; the middle appears once with `-` and once with `+`. No search for a minimal
/// diff: the agent recorded the replaced part.
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

/// A diff from the transcript: without the lines that name files, counted, cut.
Diff diff_from(std::string_view unified);

}  // namespace relay::activity
