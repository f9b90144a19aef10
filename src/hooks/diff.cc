#include "hooks/diff.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/format.h"

namespace relay::hooks {
namespace {

constexpr std::size_t kContextLines = 3;

using Lines = std::vector<std::string_view>;

/// Lines with their line ends, so that a last line without one differs from one with it.
Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto size = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

enum class Step : std::uint8_t { Same, Removed, Added };

/// The shortest edit script from one list of lines to the other (Myers' greedy algorithm; each round stores how far
/// each diagonal reached, and the script is read backwards from there).
std::vector<Step> steps_between(const Lines& before, const Lines& after) {
  const auto rows = static_cast<std::ptrdiff_t>(before.size());
  const auto columns = static_cast<std::ptrdiff_t>(after.size());
  const auto most = std::min(rows + columns, static_cast<std::ptrdiff_t>(kMaxDiffLines));
  const auto at = [most](std::ptrdiff_t diagonal) { return static_cast<std::size_t>(diagonal + most + 1); };
  std::vector<std::ptrdiff_t> reach(static_cast<std::size_t>(2 * most + 3), 0);
  std::vector<std::vector<std::ptrdiff_t>> rounds;
  const auto down = [&](const std::vector<std::ptrdiff_t>& far, std::ptrdiff_t diagonal, std::ptrdiff_t round) {
    return diagonal == -round || (diagonal != round && far[at(diagonal - 1)] < far[at(diagonal + 1)]);
  };
  for (std::ptrdiff_t round = 0; round <= most; ++round) {
    rounds.push_back(reach);
    for (std::ptrdiff_t diagonal = -round; diagonal <= round; diagonal += 2) {
      auto row = down(reach, diagonal, round) ? reach[at(diagonal + 1)] : reach[at(diagonal - 1)] + 1;
      auto column = row - diagonal;
      while (row < rows && column < columns &&
             before[static_cast<std::size_t>(row)] == after[static_cast<std::size_t>(column)]) {
        ++row, ++column;
      }
      reach[at(diagonal)] = row;
      if (row < rows || column < columns) continue;

      std::vector<Step> steps;
      for (auto back = round; back >= 0; --back) {
        const auto& far = rounds[static_cast<std::size_t>(back)];
        const auto here = row - column;
        const bool added = down(far, here, back);
        const auto from = back == 0 ? 0 : far[at(added ? here + 1 : here - 1)];
        const auto start = back == 0 ? 0 : from + (added ? 0 : 1);
        for (; row > start; --row, --column) steps.push_back(Step::Same);
        if (back == 0) break;
        steps.push_back(added ? Step::Added : Step::Removed);
        row = from;
        column = row - (added ? here + 1 : here - 1);
      }
      std::ranges::reverse(steps);
      return steps;
    }
  }
  std::vector<Step> steps(before.size(), Step::Removed);
  steps.insert(steps.end(), after.size(), Step::Added);
  return steps;
}

void add_line(std::string& out, char mark, std::string_view line) {
  out += mark;
  out += line;
  if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

/// Line numbers as `diff` counts them: an empty range is numbered by the line before it.
std::string range(std::size_t start, std::size_t count) {
  const auto first = count == 0 ? start : start + 1;
  return count == 1 ? format("{}", first) : format("{},{}", first, count);
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, std::string_view path) {
  if (before == after) return {};
  const auto old_lines = lines_of(before);
  const auto new_lines = lines_of(after);
  const auto steps = steps_between(old_lines, new_lines);
  std::string out =
      format("--- {}\n+++ {}\n", old_lines.empty() ? "/dev/null" : path, new_lines.empty() ? "/dev/null" : path);
  std::size_t old_at = 0;
  std::size_t new_at = 0;
  for (std::size_t i = 0; i < steps.size();) {
    const auto change =
        static_cast<std::size_t>(std::find_if(steps.begin() + static_cast<std::ptrdiff_t>(i), steps.end(),
                                              [](Step step) { return step != Step::Same; }) -
                                 steps.begin());
    if (change == steps.size()) break;
    const auto start = std::max(i, change - std::min(change, kContextLines));
    old_at += start - i, new_at += start - i;
    std::size_t end = change;  // after the last change of this hunk
    for (auto next = change; next < steps.size() && next < end + 2 * kContextLines + 1; ++next) {
      if (steps[next] != Step::Same) end = next + 1;
    }
    end = std::min(end + kContextLines, steps.size());

    std::string body;
    std::size_t removed = 0;
    std::size_t added = 0;
    for (i = start; i < end; ++i) {
      switch (steps[i]) {
        case Step::Same: add_line(body, ' ', old_lines[old_at + removed++]), ++added; break;
        case Step::Removed: add_line(body, '-', old_lines[old_at + removed++]); break;
        case Step::Added: add_line(body, '+', new_lines[new_at + added++]); break;
      }
    }
    out += format("@@ -{} +{} @@\n{}", range(old_at, removed), range(new_at, added), body);
    old_at += removed, new_at += added;
  }
  return out;
}

}  // namespace relay::hooks
