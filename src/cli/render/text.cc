#include "cli/render/text.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/format.h"
#include "text/invisible.h"

namespace relay::cli {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

/// The next code point; U+FFFD for each byte that starts nothing valid.
char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const auto lead = byte(at);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  if (length == 0 || at + length > text.size()) {
    ++at;
    return kReplacement;
  }
  char32_t point = length == 1 ? lead : lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) {
      ++at;
      return kReplacement;
    }
    point = (point << 6U) | (byte(at + i) & 0x3FU);
  }
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  if (overlong || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) {
    ++at;
    return kReplacement;
  }
  at += length;
  return point;
}

struct Range {
  char32_t first, last;
};

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, char32_t point) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](Range range) { return point >= range.first && point <= range.last; });
}

/// Invisible characters except emoji styles, and line ends that a terminal ignores.
bool is_deceptive(char32_t point) {
  if (point == 0xFE0E || point == 0xFE0F) return false;
  return text::is_invisible(point) || point == 0x2028 || point == 0x2029;
}

std::size_t width_of(char32_t point) {
  static constexpr std::array<Range, 6> kZero = {
      {{0x0300, 0x036F}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}}};
  static constexpr std::array<Range, 8> kWide = {{{0x1100, 0x115F},
                                                  {0x2E80, 0xA4CF},
                                                  {0xAC00, 0xD7A3},
                                                  {0xF900, 0xFAFF},
                                                  {0xFE30, 0xFE6F},
                                                  {0xFF00, 0xFF60},
                                                  {0x1F300, 0x1FAFF},
                                                  {0x20000, 0x3FFFD}}};
  if (point < 0x300) return 1;
  if (is_in(kZero, point)) return 0;
  return is_in(kWide, point) ? 2 : 1;
}

/// The end of a color escape that starts at `at`; `at` when there is none. Foreign text is sanitized and has no ESC.
std::size_t skip_escape(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with("\x1b[")) return at;
  const auto end = text.find('m', at);
  return end == std::string_view::npos ? at : end + 1;
}

void append_visible(std::string& out, char32_t point, std::string_view raw, Lines lines) {
  if (point == '\n' || point == '\t') {
    out += lines == Lines::Join ? ' ' : static_cast<char>(point);
  } else if (point < 0x20) {
    if (point == '\r' && lines == Lines::Join) return;
    out += '^';
    out += static_cast<char>(point + '@');
  } else if (point == 0x7F) {
    out += "^?";
  } else if ((point >= 0x80 && point < 0xA0) || is_deceptive(point)) {
    out += text::code_point_mark(point);
  } else if (point == kReplacement) {
    out += "\xEF\xBF\xBD";
  } else {
    out += raw;
  }
}

Marks current_marks;  // written once, before any output

constexpr std::size_t kMinWrapped = 20;  // columns
constexpr std::string_view kIndent = "    ";

std::string to_lowercase(std::string_view text) {
  std::string lower{text};
  for (auto& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return lower;
}

/// The first cell, and below it, indented, the other cells that are not empty, each with its column name.
std::string narrow_row(const std::vector<std::string>& header, const std::vector<std::string>& row,
                       std::size_t columns) {
  std::string rest;
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (row[i].empty() || row[i] == "-") continue;
    const bool named = i < header.size() && !header[i].empty();
    if (!rest.empty()) rest += header.empty() ? "  " : ", ";
    rest += named ? relay::format("{} {}", to_lowercase(header[i]), row[i]) : row[i];
  }
  auto out = row.front() + "\n";
  if (row.front().empty()) out.clear();
  for (const auto& line : wrap(rest, columns - kIndent.size()))
    if (!line.empty()) out += std::string{kIndent} + line + "\n";
  return out;
}

}  // namespace

std::string sanitize(std::string_view text, Lines lines) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto start = at;
    const auto point = next_code_point(text, at);
    append_visible(out, point, text.substr(start, at - start), lines);
  }
  return out;
}

std::string escaped_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t at = 0; at < json.size();) {
    const auto start = at;
    const auto point = next_code_point(json, at);
    const bool control = point >= 0x7f && point < 0xa0;
    if (!control && !text::is_invisible(point))
      out += json.substr(start, at - start);
    else if (point < 0x10000)
      out += relay::format("\\u{:04x}", static_cast<unsigned>(point));
    else  // a pair of surrogates
      out += relay::format("\\u{:04x}\\u{:04x}", 0xd800U + ((static_cast<unsigned>(point) - 0x10000U) >> 10U),
                           0xdc00U + (static_cast<unsigned>(point) & 0x3ffU));
  }
  return out;
}

const Marks& marks() { return current_marks; }
void set_marks(const Marks& marks) { current_marks = marks; }

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (const auto end = skip_escape(text, at); end > at)
      at = end;
    else
      width += width_of(next_code_point(text, at));
  }
  return width;
}

std::string truncate(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string{text};
  std::size_t width = 0, at = 0;
  while (at < text.size()) {
    auto next = at;
    width += width_of(next_code_point(text, next));
    if (width + display_width(marks().ellipsis) > columns) break;
    at = next;
  }
  return std::string{text.substr(0, at)} + std::string{marks().ellipsis};
}

std::vector<std::string> wrap(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines(1);
  std::size_t width = 0;
  const auto next_line = [&] {
    lines.emplace_back();
    width = 0;
  };
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ') {
      ++at;
      continue;
    }
    const auto word = text.substr(at, text.find(' ', at) - at);
    at += word.size();
    const auto length = display_width(word);
    if (width > 0 && width + 1 + length > columns) next_line();
    if (width > 0) {
      lines.back() += ' ';
      ++width;
    }
    std::size_t joint = 0;  // the best break of a too long word in this line
    for (std::size_t next = 0; next < word.size();) {
      const auto begin = next;
      next = skip_escape(word, begin);
      const auto wide = next > begin ? 0 : width_of(next_code_point(word, next));
      if (width > 0 && width + wide > columns) {
        const auto rest = joint > 0 ? lines.back().substr(joint) : std::string{};
        lines.back().erase(lines.back().size() - rest.size());
        next_line();
        lines.back() = rest;
        width = display_width(rest);
        joint = 0;
      }
      if (begin > 0 && (word[begin - 1] == '|' || word[begin - 1] == '/') && !lines.back().empty())
        joint = lines.back().size();
      lines.back() += word.substr(begin, next - begin);
      width += wide;
    }
  }
  return lines;
}

std::string fold(std::string_view text, std::size_t columns, std::size_t indent) {
  if (columns == 0) return std::string{text};
  std::string out;
  std::size_t margin = 0, width = 0;  // of this line
  bool has_word = false;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\n') {
      out += text[at++];
      width = 0;
      has_word = false;
      continue;
    }
    const auto word = std::min(text.find_first_not_of(' ', at), text.size());
    auto end = std::min(text.find_first_of(" \n|", word), text.size());
    if (end < text.size() && text[end] == '|') ++end;  // a line may break between choices
    const auto blanks = word - at, length = display_width(text.substr(word, end - word));
    if (!has_word) margin = std::min(blanks + indent, columns / 2);
    const bool fits_a_line = margin + length <= columns;
    if (has_word && fits_a_line && length > 0 && width + blanks + length > columns) {
      out += '\n' + std::string(margin, ' ');
      width = margin;
    } else {
      out.append(blanks, ' ');
      width += blanks;
    }
    out += text.substr(word, end - word);
    width += length;
    if (!fits_a_line) width %= columns;  // the terminal breaks it
    has_word = has_word || length > 0;
    at = end;
  }
  return out;
}

std::string Styler::operator()(Color color, std::string_view text) const {
  if (!enabled_ || color == Color::Plain) return std::string{text};
  const auto code = [&] {
    switch (color) {
      case Color::Plain: return 0;
      case Color::Bold: return 1;
      case Color::Dim: return 2;
      case Color::Red: return 31;
      case Color::Green: return 32;
      case Color::Yellow: return 33;
      case Color::Blue: return 34;
      case Color::Magenta: return 35;
      case Color::Cyan: return 36;
    }
    return 0;
  }();
  return relay::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string Styler::name(std::string_view name) const {
  static constexpr std::array kColors = {Color::Cyan, Color::Magenta, Color::Yellow, Color::Green, Color::Blue};
  std::uint32_t hash = 2166136261U;  // FNV-1a: spreads short names well
  for (const char c : name) hash = (hash ^ static_cast<std::uint8_t>(c)) * 16777619U;
  return (*this)(kColors[hash % kColors.size()], name);
}

std::string Table::text(const Styler& paint, std::size_t columns) const {
  std::vector<std::size_t> widths;
  const auto measure = [&](const std::vector<std::string>& row) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  };
  measure(header_);
  for (const auto& row : rows_) measure(row);
  const auto line = [&](const std::vector<std::string>& row) {
    std::string out;
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size()) out.append(widths[i] - display_width(row[i]) + 2, ' ');
    }
    while (out.ends_with(' ')) out.pop_back();
    return out;
  };
  std::size_t before_last = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) before_last += widths[i] + 2;
  const bool limited = columns > 0 && !widths.empty() && before_last + widths.back() > columns;
  const bool narrow = limited && before_last + kMinWrapped > columns;
  /// Wraps the last cell below itself.
  const auto wrapped_line = [&](std::vector<std::string> row) {
    const auto pieces = wrap(row.back(), columns - before_last);
    row.back() = pieces.front();
    auto text = line(row) + "\n";
    for (std::size_t i = 1; i < pieces.size(); ++i) text += std::string(before_last, ' ') + pieces[i] + "\n";
    return text;
  };
  std::string out;
  if (!header_.empty() && !narrow) out += paint(Color::Dim, line(header_)) + "\n";
  for (const auto& row : rows_) {
    const bool too_long = limited && display_width(line(row)) > columns;
    if (narrow && too_long)
      out += narrow_row(header_, row, columns);
    else if (too_long && row.size() == widths.size())
      out += wrapped_line(row);
    else
      out += line(row) + "\n";
  }
  return out;
}

}  // namespace relay::cli
