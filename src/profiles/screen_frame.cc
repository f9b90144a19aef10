#include "profiles/screen_frame.h"

#include <algorithm>

#include "commands/line_shape.h"

namespace relay::profiles {
namespace {

using terminal::Attribute;

/// True only for faint text: gray may be a color of the user's theme.
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
      seen.style = style.has(Attribute::Bold)  ? CharacterStyle::Bold
                   : style.has(Attribute::Dim) ? CharacterStyle::Dim
                                               : CharacterStyle::Plain;
      continue;
    }
    // A cursor drawn by the program is inverted on the first character of a hint; alone it is on the user's text.
    any_dim = any_dim || is_faint(style);
    dim = dim && (is_faint(style) || style.has(Attribute::Inverse));
  }
  seen.all_dim = any_dim && dim;
  return seen;
}

}  // namespace

ScreenFrame read_frame(const terminal::Screen& screen) {
  ScreenFrame frame;
  const auto& grid = screen.grid();
  frame.columns = grid.columns();
  frame.alternate = screen.alternate();
  frame.takes_pastes = screen.modes().bracketed_paste;
  frame.title = commands::trimmed_right(screen.title());  // Gemini CLI pads its title
  frame.status = screen.program_status();
  if (!frame.alternate) {
    const auto& history = screen.scrollback();
    auto from = std::max(history.first(), history.end() - std::min<std::uint64_t>(history.end(), kHistoryRows));
    // The rest of a row whose start is not visible could be any kind of text.
    while (from > history.first() && from < history.end() && history.row(from - 1)->wrapped) ++from;
    for (auto number = from; number < history.end(); ++number) {
      const auto* row = history.row(number);
      frame.rows.push_back({.text = row->text, .soft = row->wrapped});
    }
  }
  frame.screen_top = frame.rows.size();
  for (int i = 0; i < grid.rows(); ++i) {
    frame.rows.push_back(seen(grid.row(i)));
    frame.rows.back().soft = grid.wrapped(i);
  }
  frame.cursor_row = frame.screen_top + static_cast<std::size_t>(screen.cursor().row);
  return frame;
}

}  // namespace relay::profiles
