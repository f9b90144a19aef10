/// The state of the terminal and the operations on it. The interpreter maps bytes to operations.
///
/// Invariants: the pen is inside the grid (its column may be one past the last: a wrap is pending); the scroll region
///   has at least two rows or is the whole screen; cluster_ is empty unless the last operation wrote the character left
///   of the pen.
/// Where terminals disagree, Display follows xterm.js; src/terminal/README.md lists the exceptions with their reasons.
/// Threading: one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "terminal/modes.h"
#include "terminal/page.h"
#include "terminal/reports.h"
#include "terminal/scrollback.h"
#include "terminal/tab_stops.h"
#include "terminal/width.h"

namespace relay::terminal {

enum class EraseRange : std::uint8_t { After, Before, All };
enum class ScreenSwitch : std::uint8_t { Plain, SavingPen };  // ?47 and ?1047, ?1049
enum class KeyboardChange : std::uint8_t { Replace = 1, Add = 2, Remove = 3 };

class Display {
 public:
  explicit Display(Size size, Scrollback scrollback);

  // Writing (display_print.cc)
  void text(std::string_view ascii);
  void character(char32_t code);
  void repeat(int count);
  void end_cluster() { cluster_.reset(); }

  // Moving (display_move.cc)
  void move_to(int row, int column);  // origin mode coordinates
  void move_by(int rows, int columns);
  void move_vertically(int rows);  // stops at the edge of the scroll region
  void set_row(int row);
  void set_column(int column);
  void carriage_return() { pen_.column = 0; }
  void backspace();
  void tab(int count);
  void back_tab(int count);
  void line_feed();
  void index();
  void reverse_index();
  void set_region(int top, int bottom);
  void save_pen();
  void restore_pen();

  // Changing (display_edit.cc)
  void erase_display(EraseRange range);
  void erase_line(EraseRange range);
  void erase_characters(int count);
  void insert_characters(int count);
  void delete_characters(int count);
  void insert_lines(int count);
  void delete_lines(int count);
  void scroll_up(int count);
  void scroll_down(int count);
  void alignment_pattern();
  void clear_scrollback() { scrollback_.clear(); }

  // State (display.cc)
  void resize(Size size);
  void enter_alternate(ScreenSwitch mode);
  void leave_alternate(ScreenSwitch mode);
  void set_origin(bool on);
  void soft_reset();
  void full_reset();
  void set_title(std::string_view title);
  void push_title();
  void pop_title();
  void set_status(const ProgramStatus& status);
  void push_keyboard(std::uint8_t flags);
  void pop_keyboard(int count);
  void change_keyboard(std::uint8_t flags, KeyboardChange change);
  void report(Report report);

  Pen& pen() { return pen_; }
  Modes& modes() { return modes_; }
  TabStops& tabs() { return tabs_; }
  [[nodiscard]] const Pen& pen() const { return pen_; }
  [[nodiscard]] const Modes& modes() const { return modes_; }
  [[nodiscard]] const TabStops& tabs() const { return tabs_; }
  [[nodiscard]] const Page& page() const { return modes_.alternate_screen ? alternate_ : primary_; }
  [[nodiscard]] const Page& primary() const { return primary_; }
  [[nodiscard]] const Page& alternate() const { return alternate_; }
  [[nodiscard]] Size size() const { return size_; }
  [[nodiscard]] const std::string& title() const { return title_; }
  [[nodiscard]] const ProgramStatus& status() const { return status_; }
  [[nodiscard]] const Scrollback& scrollback() const { return scrollback_; }
  [[nodiscard]] std::uint64_t revision() const { return revision_; }
  /// The cursor in the program's coordinates: relative to the scroll region in origin mode.
  [[nodiscard]] Position program_cursor() const;

  std::vector<Report> take_reports();
  [[nodiscard]] std::uint64_t lost_reports() const { return lost_reports_; }
  std::vector<int> take_changed_rows();

  /// Same content and same state, so that the same later bytes have the same effect.
  [[nodiscard]] bool equals(const Display& other) const;

 private:
  Page& page() { return modes_.alternate_screen ? alternate_ : primary_; }
  Row& row() { return page().grid.row(pen_.row); }
  [[nodiscard]] Style erase_style() const { return {.background = pen_.style.background}; }
  void mark(int row) {
    changed_[static_cast<std::size_t>(row)] = 1;
    ++revision_;
  }
  void mark_rows(int first, int last);
  void clamp_column();
  void clamp_pen();
  /// No: a wide character in the last column that must not wrap is not written.
  enum class Placed : std::uint8_t { No, Yes };
  Placed place(char32_t code, int columns);
  void join(char32_t code, int columns);
  void wrap();
  void plain_text(std::string_view ascii);
  void scroll_region_up(int top, int bottom, int count);
  void save_to_scrollback(int count);
  void reset_alternate();
  void resize_primary(Size size);
  void sync_keyboard() { modes_.keyboard_flags = page().keyboard_flags; }

  Size size_;
  Page primary_;
  Page alternate_;
  Pen pen_;
  Modes modes_;
  TabStops tabs_;
  ClusterState cluster_;
  std::string title_;
  std::vector<std::string> titles_;  // the title stack
  ProgramStatus status_;
  Scrollback scrollback_;
  std::deque<Report> reports_;
  std::uint64_t lost_reports_ = 0;
  std::vector<std::uint8_t> changed_;
  std::uint64_t revision_ = 0;
};

}  // namespace relay::terminal
