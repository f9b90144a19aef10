#include "commands/unwrap.h"

#include <algorithm>
#include <optional>

#include "commands/code_fence.h"
#include "commands/injected_message.h"
#include "commands/line_shape.h"
#include "text/display_width.h"

namespace relay::commands {
namespace {

constexpr std::size_t kMaxLogicalBytes = 1024 * 1024;

struct Row {
  std::string_view text;  // without blanks at its ends
  std::size_t indent = 0;
  std::size_t columns = 0;
  std::size_t width = 0;
  bool soft = false;
};

/// The line under construction.
struct Paragraph {
  UnwrappedLine line;
  Row last;                 // its last row
  std::size_t hanging = 0;  // where its later rows start
  std::size_t quotes = 0;   // quote marks before each of its rows
  bool commands = false;
};

std::string_view first_word(std::string_view text) { return text.substr(0, text.find(' ')); }

std::string_view last_word(std::string_view text) {
  const auto blank = text.rfind(' ');
  return blank == std::string_view::npos ? text : text.substr(blank + 1);
}

bool is_word_character(char32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c > 0x7F;
}

bool is_rule(std::string_view text) {
  return text.size() >= 3 && (text.find_first_not_of('-') == std::string_view::npos || text.starts_with("───") ||
                              text.starts_with("═══") || text.starts_with("╌╌╌"));
}

bool is_heading(std::string_view text) {
  const auto marks = std::min(text.find_first_not_of('#'), text.size());
  return marks > 0 && marks <= 6 && text.substr(marks).starts_with(' ');
}

bool starts_block(std::string_view text) {
  return list_item(text) || is_table_row(text) || is_rule(text) || is_heading(text) || fence_opening(text) ||
         is_bare_prompt(text) || is_injected_line(text);
}

constexpr std::size_t kDeepestQuote = 8;

std::size_t quote_depth(std::string_view text) { return without_quote_marks(text, kDeepestQuote).depth; }

/// The row as if the quote marks before its text were indentation.
Row unquoted(const Row& row, std::size_t depth) {
  if (depth == 0) return row;
  Row inner = row;
  const auto text = without_quote_marks(row.text, depth).text;
  inner.text = text.substr(leading_blanks(text));
  inner.columns = text::display_width(inner.text);
  inner.indent = row.indent + row.columns - inner.columns;
  return inner;
}

bool ends_sentence(std::string_view text) {
  for (const std::string_view end : {".", "!", "?", ":", "…", "。", ")", "\""})
    if (text.ends_with(end)) return true;
  return false;
}

std::size_t room_after(const Row& row) {
  const auto used = row.indent + row.columns;
  return row.width > used ? row.width - used : 0;
}

/// How the text of two rows joins, or not at all.
std::optional<std::string_view> glue(const Row& last, const Row& next) {
  constexpr std::string_view kNothing = "";
  constexpr std::string_view kBlank = " ";
  const auto room = room_after(last);
  const auto before = text::last_character(last.text);
  const auto after = text::first_character(next.text);
  const bool full = room == 0 || (room == 1 && text::is_wide(after));
  if (last.soft) return full && next.indent == 0 ? kNothing : kBlank;  // a blank at the edge is not part of the text
  const auto head = first_word(next.text);
  const bool unspaced = text::is_wide(before) && text::is_wide(after);
  if (unspaced && room < 2) return kNothing;
  if (text::display_width(head) + 1 <= room) return std::nullopt;  // it would have fitted: the break was intended

  const auto tail = last_word(last.text);
  if (tail.size() > 1 && is_word_character(after)) {
    const auto ahead = text::last_character(tail.substr(0, tail.size() - 1));
    if (before == '/' || ((before == '-') && is_word_character(ahead))) return kNothing;
  }
  const auto capacity = next.width > next.indent ? next.width - next.indent : 0;
  if (full && text::display_width(tail) + text::display_width(head) > capacity)
    return kNothing;  // no row could contain the whole word
  return kBlank;
}

bool fits_below(const Paragraph& paragraph, const Row& row) {
  if (paragraph.line.rows > 1) return row.indent == paragraph.last.indent;
  return row.indent == paragraph.last.indent || row.indent == paragraph.hanging;
}

class Unwrapper {
 public:
  explicit Unwrapper(const PrefixTable& prefixes) : prefixes_{prefixes} {}

  void take(const Row& drawn, std::size_t index) {
    const bool soft = open_ && paragraph_.last.soft;
    const bool plain = is_plain(drawn.text);
    const auto quotes = plain || soft ? 0 : quote_depth(drawn.text);
    const auto row = unquoted(drawn, quotes);
    if (row.text.empty()) {
      flush();
      lines_.push_back({.text = std::string{drawn.text}, .first_row = index, .rows = 1});
      return;
    }
    const bool commands = !plain && prefixes_.opening(row.text).has_value();
    const bool starts = plain ? is_injected_text(row.text) : starts_block(row.text);
    if (open_ && (soft || paragraph_.quotes == quotes) && continues(row, commands, starts)) {
      const auto between = glue(paragraph_.last, row);
      if (between && paragraph_.line.text.size() + row.text.size() < kMaxLogicalBytes) {
        paragraph_.line.text.append(*between).append(row.text);
        ++paragraph_.line.rows;
        paragraph_.last = row;
        return;
      }
    }
    begin(drawn, row, quotes, index, commands);
  }

  std::vector<UnwrappedLine> finish() {
    flush();
    return std::move(lines_);
  }

 private:
  /// Whether the row starts with a word: no command, mark, bar or list, so most checks can be skipped.
  [[nodiscard]] bool is_plain(std::string_view text) const {
    return !prefixes_.may_matter(text) && !text.starts_with('|');
  }

  [[nodiscard]] bool continues(const Row& row, bool commands, bool starts) const {
    if (paragraph_.last.soft) return true;
    if (commands && (paragraph_.commands || ends_sentence(paragraph_.last.text))) return false;
    return !starts && !is_table_row(paragraph_.last.text) && !is_rule(paragraph_.last.text) &&
           fits_below(paragraph_, row);
  }

  void begin(const Row& drawn, const Row& row, std::size_t quotes, std::size_t index, bool commands) {
    flush();
    auto hanging = row.indent;
    if (const auto item = list_item(row.text)) hanging += text::display_width(row.text.substr(0, item->content));
    open_ = true;
    paragraph_ =
        Paragraph{.line = {.text = std::string(drawn.indent, ' ').append(drawn.text), .first_row = index, .rows = 1},
                  .last = row,
                  .hanging = hanging,
                  .quotes = quotes,
                  .commands = commands};
  }

  void flush() {
    if (open_) lines_.push_back(std::move(paragraph_.line));
    open_ = false;
  }

  const PrefixTable& prefixes_;
  Paragraph paragraph_;
  bool open_ = false;  // whether there is a paragraph
  std::vector<UnwrappedLine> lines_;
};

}  // namespace

std::vector<UnwrappedLine> unwrap(std::span<const ScreenLine> rows, const PrefixTable& prefixes) {
  std::vector<Row> prepared;
  prepared.reserve(rows.size());
  std::size_t widest = 0;
  for (const auto& drawn : rows) {
    const auto right = trimmed_right(drawn.text);
    const auto blanks = leading_blanks(right);
    Row row{.text = right.substr(blanks), .indent = drawn.indent + blanks, .width = drawn.width, .soft = drawn.soft};
    row.columns = text::display_width(row.text);
    widest = std::max(widest, row.indent + row.columns);
    prepared.push_back(row);
  }
  Unwrapper unwrapper{prefixes};
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    if (prepared[i].width == 0) prepared[i].width = widest;
    unwrapper.take(prepared[i], i);
  }
  return unwrapper.finish();
}

}  // namespace relay::commands
