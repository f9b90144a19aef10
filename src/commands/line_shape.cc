#include "commands/line_shape.h"

#include <algorithm>
#include <array>

namespace relay::commands {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::size_t kMaxOrdinalDigits = 9;  // CommonMark's bound

constexpr std::array<std::string_view, 4> kBullets = {"•", "◦", "‣", "⁃"};
constexpr std::array<std::string_view, 6> kQuoteBars = {">", "│", "┃", "▎", "▌", "║"};
constexpr std::array<std::string_view, 9> kPrompts = {">", "$", "%", "#", "❯", "›", "»", "➜", ">>>"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Bytes of a list marker at the start of the text; 0 when there is none.
std::size_t marker_bytes(std::string_view text, bool& numbered) {
  numbered = false;
  if (text.empty()) return 0;
  if (text[0] == '-' || text[0] == '*' || text[0] == '+') return 1;
  for (const auto bullet : kBullets)
    if (text.starts_with(bullet)) return bullet.size();
  std::size_t digits = 0;
  while (digits < text.size() && digits < kMaxOrdinalDigits && is_digit(text[digits])) ++digits;
  if (digits == 0 || digits == text.size() || (text[digits] != '.' && text[digits] != ')')) return 0;
  numbered = true;
  return digits + 1;
}

}  // namespace

bool is_blank_line(std::string_view line) { return line.find_first_not_of(kBlanks) == std::string_view::npos; }

std::size_t leading_blanks(std::string_view line) { return std::min(line.find_first_not_of(kBlanks), line.size()); }

std::string_view trimmed_right(std::string_view text) {
  const auto last = text.find_last_not_of(" \t\r\n");
  return last == std::string_view::npos ? std::string_view{} : text.substr(0, last + 1);
}

std::string_view trimmed(std::string_view text) {
  text = trimmed_right(text);
  const auto first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

std::optional<ListItem> list_item(std::string_view line) {
  ListItem item{.marker = leading_blanks(line)};
  const auto bytes = marker_bytes(line.substr(item.marker), item.numbered);
  if (bytes == 0) return std::nullopt;
  const auto after = line.substr(item.marker + bytes);
  const auto blanks = leading_blanks(after);
  if (blanks == 0) return std::nullopt;  // "-x" and "3.14" are words
  item.content = item.marker + bytes + blanks;
  return item;
}

bool is_table_row(std::string_view line) {
  const auto text = trimmed(line);
  for (const std::string_view bar : {"|", "│"})
    if (text.size() > 2 * bar.size() && text.starts_with(bar) && text.ends_with(bar)) return true;
  return false;
}

bool is_bare_prompt(std::string_view line) {
  const auto text = trimmed(line);
  return std::ranges::find(kPrompts, text) != kPrompts.end();
}

Unquoted without_quote_marks(std::string_view line, std::size_t depth) {
  Unquoted result{.text = line};
  while (result.depth < depth) {
    const auto rest = result.text.substr(leading_blanks(result.text));
    const auto bar = std::ranges::find_if(kQuoteBars, [&](auto each) { return rest.starts_with(each); });
    if (bar == kQuoteBars.end()) break;
    result.text = rest.substr(bar->size());
    if (result.text.starts_with(' ')) result.text.remove_prefix(1);
    ++result.depth;
  }
  return result;
}

}  // namespace relay::commands
