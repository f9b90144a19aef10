/// Text for terminals: sanitizing, widths, wrapping, colors and tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relay::cli {

/// Makes control characters and bidirectional marks visible: ESC is `^[`. Invalid UTF-8 becomes U+FFFD. `Lines::Keep` keeps
/// line ends and tabs; `Lines::Join` turns a line end into a space.
enum class Lines { Keep, Join };
std::string sanitize(std::string_view text, Lines lines);

/// Makes JSON safe for a terminal: escapes DEL and C1 controls (U+0080 to U+009F), which JSON allows unescaped. The value is
/// the same.
std::string escaped_json(std::string_view json);

/// Symbols in lines of text.
struct Marks {
  std::string_view arrow = "→", ellipsis = "…", micro = "µ";
};
inline constexpr Marks kAsciiMarks{.arrow = "->", .ellipsis = "...", .micro = "u"};
const Marks& marks();
/// Replaces the default marks, for an ASCII locale. Called once, before the command runs.
void set_marks(const Marks& marks);

/// The width of the text on a terminal; escapes of Styler take no columns.
std::size_t display_width(std::string_view text);

/// Truncates to `columns`, with an ellipsis.
std::string truncate(std::string_view text, std::size_t columns);

/// Wraps the text at spaces into lines of at most `columns`; a longer word breaks after `/` or `|`, or at the end of the
/// line.
std::vector<std::string> wrap(std::string_view text, std::size_t columns);

/// Wraps long lines at spaces, with `indent` more columns at the left of continuation lines. A longer word stays whole, so
/// that a path can be copied, except for choices (`a|b`). Unchanged when `columns` is 0.
std::string fold(std::string_view text, std::size_t columns, std::size_t indent = 2);

/// Colors; none without a terminal or with NO_COLOR.
enum class Color { Plain, Bold, Dim, Red, Green, Yellow, Blue, Magenta, Cyan };
class Styler {
 public:
  explicit Styler(bool enabled) : enabled_{enabled} {}
  [[nodiscard]] std::string operator()(Color color, std::string_view text) const;
  /// A name always has the same color.
  [[nodiscard]] std::string name(std::string_view name) const;

 private:
  bool enabled_;
};

/// Rows with aligned columns, separated by two spaces, without trailing spaces.
///
/// On a narrow terminal the last column wraps; where even that has no room, each row is its first cell and, indented, the
/// other cells with their column names.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// `columns` is the width of the terminal; 0: no limit.
  [[nodiscard]] std::string text(const Styler& paint, std::size_t columns = 0) const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace relay::cli
