/// The shape of a single line of text. Blanks are space and tab.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace relay::commands {

bool is_blank_line(std::string_view line);
std::size_t leading_blanks(std::string_view line);
std::string_view trimmed(std::string_view text);
std::string_view trimmed_right(std::string_view text);

/// `- x`, `* x`, `+ x`, `• x`, `3. x`, `3) x`, after any indentation.
struct ListItem {
  std::size_t marker = 0;   // the position of the marker
  std::size_t content = 0;  // the position of the text after it
  bool numbered = false;
};
std::optional<ListItem> list_item(std::string_view line);

/// `| a | b |`, also as drawn: `│ a │ b │`.
bool is_table_row(std::string_view line);

/// Is the line only the mark of an input line: `>`, `$`, `❯` or similar?
bool is_bare_prompt(std::string_view line);

/// The text after up to `depth` quote marks (`>`, or a bar as screens draw it), and the number of marks removed.
struct Unquoted {
  std::string_view text;
  std::size_t depth = 0;
};
Unquoted without_quote_marks(std::string_view line, std::size_t depth);

}  // namespace relay::commands
