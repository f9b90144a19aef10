#include "profiles/screen_frame.h"

#include <algorithm>

#include "commands/line_shape.h"

namespace relay::profiles {
namespace {

using terminal::Attribute;

/// Only what the terminal is told to draw faintly: a grey may be the colour of a person's theme.
bool is_faint(const terminal::Style& style) { return style.has(Attribute::Dim); }

ScreenRow seen(const terminal::Row& row) {
  ScreenRow seen;
  seen.text = row.text();
  bool first = true, any_dim = false, dim = true;
  const int used = std::min(row.used_columns(), row.columns());
  for (int column = 0; column < used; ++column) {
    const auto& cell = row.cell(column);
    if (cell.is_blank() || cell.is_spacer()) continue;
    const auto& style = cell.style();
    if (first) {
      first = false;
      seen.look = style.has(Attribute::Bold)  ? CharacterStyle::Bold
                  : style.has(Attribute::Dim) ? CharacterStyle::Dim
                                              : CharacterStyle::Plain;
      continue;
    }
    // A cursor drawn by the program stands inverted on the first letter of a hint; alone it stands on a person's letter.
    any_dim = any_dim || is_faint(style);
    dim = dim && (is_faint(style) || style.has(Attribute::Inverse));
  }
  seen.all_dim = any_dim && dim;
  return seen;
}

}  // namespace

ScreenFrame read_frame(const terminal::Screen& screen) {
  ScreenFrame sight;
  const auto& grid = screen.grid();
  sight.columns = grid.columns();
  sight.alternate = screen.alternate();
  sight.takes_pastes = screen.modes().bracketed_paste;
  sight.title = commands::trimmed_right(screen.title());  // Gemini CLI fills its own up
  sight.status = screen.program_status();
  if (!sight.alternate) {
    const auto& history = screen.scrollback();
    auto from = std::max(history.first(), history.end() - std::min<std::uint64_t>(history.end(), kHistoryRows));
    // The rest of a row whose beginning is out of sight could be anybody's.
    while (from > history.first() && from < history.end() && history.row(from - 1)->wrapped) ++from;
    for (auto number = from; number < history.end(); ++number) {
      const auto* row = history.row(number);
      sight.rows.push_back({.text = row->text, .soft = row->wrapped});
    }
  }
  sight.screen_top = sight.rows.size();
  for (int i = 0; i < grid.rows(); ++i) {
    sight.rows.push_back(seen(grid.row(i)));
    sight.rows.back().soft = grid.wrapped(i);
  }
  sight.cursor_row = sight.screen_top + static_cast<std::size_t>(screen.cursor().row);
  return sight;
}

}  // namespace relay::profiles
