#include "profiles/sight.h"

#include <algorithm>

namespace relay::profiles {
namespace {

using terminal::Attribute;

bool is_faint(const terminal::Style& style) {
  if (style.has(Attribute::Dim)) return true;
  const auto& colour = style.foreground;
  // Greys in the middle: what programs without the dim attribute use for hints.
  if (colour.kind() == terminal::Color::Kind::Indexed)
    return colour.index() == 8 || (colour.index() >= 236 && colour.index() <= 248);
  if (colour.kind() != terminal::Color::Kind::Rgb) return false;
  const auto [low, high] = std::minmax({colour.red(), colour.green(), colour.blue()});
  return high - low <= 24 && high >= 64 && high <= 176;
}

SeenRow seen(const terminal::Row& row) {
  SeenRow seen;
  seen.text = row.text();
  bool first = true, any = false, dim = true;
  const int used = std::min(row.used_columns(), row.columns());
  for (int column = 0; column < used; ++column) {
    const auto& cell = row.cell(column);
    if (cell.is_blank() || cell.is_spacer()) continue;
    const auto& style = cell.style();
    if (first) {
      first = false;
      seen.look = style.has(Attribute::Bold) ? Look::Bold : style.has(Attribute::Dim) ? Look::Dim : Look::Plain;
      continue;
    }
    any = true;
    // A cursor drawn by the program stands inverted on the first letter of a hint.
    dim = dim && (is_faint(style) || style.has(Attribute::Inverse));
  }
  seen.all_dim = any && dim;
  return seen;
}

}  // namespace

Sight look_at(const terminal::Screen& screen) {
  Sight sight;
  const auto& grid = screen.grid();
  sight.columns = grid.columns();
  sight.alternate = screen.alternate();
  sight.title = screen.title();
  sight.status = screen.program_status();
  if (!sight.alternate) {
    const auto& history = screen.scrollback();
    const auto from = std::max(history.first(), history.end() - std::min<std::uint64_t>(history.end(), kHistoryRows));
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
