#include "cli/render/text_cells.h"

#include <algorithm>

#include "cli/render/text.h"
#include "terminal/width.h"
#include "text/utf8.h"

namespace relay::cli {
namespace {

constexpr char32_t kEmojiForm = 0xFE0F;

bool is_plain_ascii(char32_t point) { return point >= 0x20 && point < 0x7F; }

/// Of a cell that is complete.
std::size_t columns_of(std::string_view cell) {
  if (cell == "\n") return 0;
  const auto visible = visible_text(cell);
  if (visible != cell) return display_width(visible);
  std::size_t at = 0;
  const auto first = text::next_code_point(cell, at);
  if (at < cell.size() && text::next_code_point(cell, at) == kEmojiForm && terminal::has_emoji_form(first)) return 2;
  return first < 0xA0 ? 1 : std::max<std::size_t>(terminal::traits_of(first).columns, 1);
}

}  // namespace

std::string visible_text(std::string_view cell) { return sanitize(cell, Lines::Join); }

std::vector<TextCell> cells_of(std::string_view text) {
  std::vector<TextCell> cells;
  terminal::ClusterState cluster;
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = at;
    const auto point = text::next_code_point(text, at);
    if (is_plain_ascii(point)) {
      cluster.restart(point);
    } else if (point == text::kInvalidCodePoint || point < 0xA0) {  // displayed as other characters
      cluster.reset();
    } else if (cluster.joins(point) && !cells.empty()) {
      cells.back().end = at;
      continue;
    }
    cells.push_back({begin, at, 1});
  }
  for (auto& cell : cells)
    if (cell.end - cell.begin > 1 || !is_plain_ascii(static_cast<unsigned char>(text[cell.begin])))
      cell.columns = columns_of(text.substr(cell.begin, cell.end - cell.begin));
  return cells;
}

}  // namespace relay::cli
