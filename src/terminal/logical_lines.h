/// Logical lines: rows joined where the terminal wrapped, not the program.
///
/// Programs that wrap their own output (most full-screen agents) give one line per row; joining those requires
/// knowledge of the program and is done elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace relay::terminal {

class Grid;
class Scrollback;
class Screen;

struct LogicalLine {
  std::string text{};  // trailing blanks cut
  int rows = 1;        // how many rows it spans
  int first_row = 0;   // in the grid; negative if it starts in the scrollback
  bool operator==(const LogicalLine&) const = default;
};

/// All lines of a grid, blank ones too.
std::vector<LogicalLine> logical_lines(const Grid& grid);

/// The scrollback from row number `from`, then the grid. Scrollback row n has the row number n - scrollback.end().
std::vector<LogicalLine> logical_lines(const Scrollback& scrollback, const Grid& grid, std::uint64_t from = 0);

}  // namespace relay::terminal
