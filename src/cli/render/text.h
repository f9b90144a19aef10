/// Text that is safe and pleasant on a terminal: other people's words are shown, never obeyed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relay::cli {

/// Control characters (and marks that reorder text) become visible: ESC is `^[`. What is not UTF-8 becomes U+FFFD.
/// `Lines::Keep` leaves line ends and tabs alone; `Lines::Join` shows a line end as a blank.
enum class Lines { Keep, Join };
std::string sanitize(std::string_view text, Lines lines);

/// JSON that a terminal may be shown: DEL and C1 control characters (U+0080 to U+009F), which JSON allows as they are,
/// become escapes. It says the same.
std::string escaped_json(std::string_view json);

/// Marks of ours in lines of text.
struct Marks {
  std::string_view arrow = "→", ellipsis = "…", micro = "µ";
};
inline constexpr Marks kAsciiMarks{.arrow = "->", .ellipsis = "...", .micro = "u"};
const Marks& marks();
/// In place of the usual ones, for a locale that knows only ASCII. Set once, before the command runs.
void use_marks(const Marks& marks);

/// Columns the text takes on a terminal; our own colours (Paint) take none.
std::size_t display_width(std::string_view text);

/// At most `columns` wide, with an ellipsis where something is missing.
std::string truncate(std::string_view text, std::size_t columns);

/// The text in lines of at most `columns`, broken at blanks; a word that is longer is broken behind a `/` or `|`, or where the
/// line ends.
std::vector<std::string> wrap(std::string_view text, std::size_t columns);

/// Sentences for a terminal of that width: a line that is longer is broken at blanks, and goes on with `indent` columns
/// more at its left. A longer word stays whole, so that a path can be copied, but for choices (`a|b`). As it is when `columns` is 0.
std::string folded(std::string_view text, std::size_t columns, std::size_t indent = 2);

/// Colours, or nothing when the reader is no terminal or said NO_COLOR.
enum class Colour { Plain, Bold, Dim, Red, Green, Yellow, Blue, Magenta, Cyan };
class Styler {
 public:
  explicit Styler(bool colours) : colours_{colours} {}
  [[nodiscard]] std::string operator()(Colour colour, std::string_view text) const;
  /// The same name always has the same colour.
  [[nodiscard]] std::string name(std::string_view name) const;

 private:
  bool colours_;
};

/// Rows with aligned columns; two blanks between them, none at the end of a line.
///
/// On a terminal that is too narrow the last column is wrapped below itself; where even that has no room, each row is its
/// first cell and, indented, the rest with the names of their columns.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// `columns` is the terminal's width; 0: no limit.
  [[nodiscard]] std::string text(const Styler& paint, std::size_t columns = 0) const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace relay::cli
