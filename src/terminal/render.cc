#include "terminal/render.h"

#include <utility>

#include "base/format.h"
#include "terminal/display.h"
#include "terminal/screen.h"
#include "terminal/sgr.h"

namespace relay::terminal {
namespace {

/// Resets everything that would change the drawing: margins, wrapping, insertion, origin, character sets.
constexpr std::string_view kResetDrawing = "\x1b[!p\x1b[r\x1b[?6l\x1b[4l\x1b[?7h\x1b(B\x1b)B\x1b*B\x1b+B\x0f\x1b[0m";

class Painter {
 public:
  explicit Painter(const Display& display) : display_{display} {}

  std::string paint() && {
    out_ += kResetDrawing;
    out_ += "\x1b[H\x1b[2J";
    title();
    tabs();
    if (display_.modes().alternate_screen) {
      page(display_.primary());
      out_ += "\x1b[?1047h";  // unlike 1049 it does not replace the saved cursor that was just set
      reset_drawing();
      out_ += "\x1b[H\x1b[2J";
    }
    page(display_.page());
    pen({display_.pen(), display_.modes().origin}, display_.page(), display_.page().top);
    modes();
    return std::move(out_);
  }

 private:
  void reset_drawing() {
    out_ += "\x1b[r\x1b[?6l\x1b(B\x1b)B\x1b*B\x1b+B\x0f\x1b[0m";
    style_ = {};
  }
  void set_style(const Style& style) {
    if (style == style_) return;
    style_ = style;
    out_ += sgr_of(style);
  }
  void go_to(int row, int column) { out_ += format("\x1b[{};{}H", row + 1, column + 1); }

  void title() {
    if (!display_.title().empty()) out_ += format("\x1b]2;{}\x1b\\", display_.title());
  }

  void tabs() {
    if (display_.tabs().is_default()) return;
    out_ += "\x1b[3g";
    for (int column = 0; column < display_.size().columns; ++column)
      if (display_.tabs().at(column)) out_ += format("\x1b[{}G\x1bH", column + 1);
  }

  void cell(const Row& row, int column) {
    const Cell& cell = row.cell(column);
    if (cell.is_spacer()) return;
    const bool joins = cell.is_cluster() || (cell.value() >= 0xa0 && !traits_of(cell.value()).plain);
    if (joins && cell.style() == style_) out_ += sgr_of(style_);  // ends the cluster before it
    set_style(cell.style());
    row.append_cell_text(out_, column);
  }

  /// A wide character that wraps leaves a filler, so the row must not contain one.
  static bool leaves_filler(const Row& row, const Row& next) {
    const Cell& last = row.cell(row.columns() - 1);
    return last.is_filler() && next.cell(0).columns() == 2 && next.cell(0).style() == last.style();
  }

  void rows(const Page& page) {
    const Grid& grid = page.grid;
    for (int index = 0; index < grid.rows(); ++index) {
      const Row& row = grid.row(index);
      const bool follows = index > 0 && row.continues();
      const bool wrapped = grid.wrapped(index);
      int end = row.used_columns();
      if (follows) end = std::max(end, 1);
      if (wrapped) end = leaves_filler(row, grid.row(index + 1)) ? row.columns() - 1 : row.columns();
      if (end == 0) continue;
      if (!follows) go_to(index, 0);
      for (int column = 0; column < end; ++column) cell(row, column);
    }
  }

  void keyboard(const Page& page) {
    if (page.keyboard_stack.empty() && page.keyboard_flags == 0) return;
    bool first = true;
    const auto level = [&](std::uint8_t flags) {
      out_ += first ? format("\x1b[={};1u", flags) : format("\x1b[>{}u", flags);
      first = false;
    };
    for (const auto flags : page.keyboard_stack) level(flags);
    level(page.keyboard_flags);
  }

  void region(const Page& page) {
    if (page.top != 0 || page.bottom != page.grid.rows() - 1)
      out_ += format("\x1b[{};{}r", page.top + 1, page.bottom + 1);
  }

  /// The saved pen comes first: it may be at a position that the region excludes.
  void page(const Page& page) {
    rows(page);
    keyboard(page);
    if (page.saved != SavedPen{}) {
      pen(page.saved, page, 0);
      out_ +=
          "\x1b"
          "7";
    }
    out_ += "\x1b[?6l";
    region(page);
  }

  void pen(const SavedPen& saved, const Page& page, int top) {
    const Pen& pen = saved.pen;
    out_ += "\x1b(B\x0f";
    out_ += saved.origin ? "\x1b[?6h" : "\x1b[?6l";
    const int row = saved.origin ? pen.row - top : pen.row;
    const int columns = page.grid.columns();
    if (pen.column < columns) {
      go_to(row, pen.column);
    } else {  // a wrap is pending: write the last character again
      const Row& last = page.grid.row(pen.row);
      const int column = last.cell(columns - 1).is_spacer() ? columns - 2 : columns - 1;
      go_to(row, column);
      cell(last, column);
    }
    set_style(pen.style);
    static constexpr char kDesignators[] = {'(', ')', '*', '+'};
    for (std::size_t index = 0; index < pen.charsets.designated.size(); ++index)
      out_ +=
          format("\x1b{}{}", kDesignators[index], pen.charsets.designated[index] == Charset::DecGraphics ? '0' : 'B');
    static constexpr std::string_view kShifts[] = {"\x0f", "\x0e", "\x1bn", "\x1bo"};
    out_ += kShifts[pen.charsets.active];
  }

  void modes() {
    const Modes& modes = display_.modes();
    const Modes defaults;
    for (const int number : {1, 5, 7, 25, 45, 1004, 1007, 2004, 2031, 2048}) {
      const auto on = mode_state(modes, ModeKind::DecPrivate, number);
      if (on != mode_state(defaults, ModeKind::DecPrivate, number))
        out_ += format("\x1b[?{}{}", number, *on ? 'h' : 'l');
    }
    for (const int number : {9, 1000, 1002, 1003, 1005, 1006, 1015, 1016})
      if (mode_state(modes, ModeKind::DecPrivate, number).value_or(false)) out_ += format("\x1b[?{}h", number);
    if (modes.insert) out_ += "\x1b[4h";
    if (modes.newline) out_ += "\x1b[20h";
    if (modes.application_keypad) out_ += "\x1b=";
    if (modes.cursor_shape != CursorShape::Default) out_ += format("\x1b[{} q", static_cast<int>(modes.cursor_shape));
    if (modes.modify_other_keys != 0) out_ += format("\x1b[>4;{}m", modes.modify_other_keys);
    if (modes.synchronized) out_ += "\x1b[?2026h";
  }

  const Display& display_;
  std::string out_;
  Style style_;  // the current style of the terminal
};

/// Each screen has its own stack; its lowest flags may have been changed without a push.
std::string reset_keyboard(const Page& page) {
  std::string out;
  if (!page.keyboard_stack.empty()) out += format("\x1b[<{}u", page.keyboard_stack.size());
  const auto lowest = page.keyboard_stack.empty() ? page.keyboard_flags : page.keyboard_stack.front();
  if (lowest != 0) out += "\x1b[=0;1u";
  return out;
}

}  // namespace

std::string render(const Screen& screen) { return Painter{screen.display()}.paint(); }

std::string restore_sequence(const Screen& screen) {
  const Modes& modes = screen.modes();
  std::string out;
  if (modes.synchronized) out += "\x1b[?2026l";
  if (modes.mouse != MouseTracking::Off) out += "\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l";
  if (modes.mouse_encoding != MouseEncoding::Legacy) out += "\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l";
  if (modes.focus_reports) out += "\x1b[?1004l";
  if (modes.bracketed_paste) out += "\x1b[?2004l";
  if (modes.color_scheme_reports) out += "\x1b[?2031l";
  if (modes.resize_reports) out += "\x1b[?2048l";
  if (modes.alternate_scroll) out += "\x1b[?1007l";
  if (modes.modify_other_keys != 0) out += "\x1b[>4;0m";
  if (modes.alternate_screen) {
    out += reset_keyboard(screen.display().alternate());
    out += "\x1b[r\x1b[?1049l";
  }
  out += reset_keyboard(screen.display().primary());
  if (modes.application_cursor) out += "\x1b[?1l";
  if (modes.application_keypad) out += "\x1b>";
  if (modes.reverse_video) out += "\x1b[?5l";
  if (modes.reverse_wrap) out += "\x1b[?45l";
  if (modes.newline) out += "\x1b[20l";
  if (modes.cursor_shape != CursorShape::Default) out += "\x1b[0 q";
  out += "\x1b[4l\x1b[?7h\x1b[?25h";
  out += "\x1b[!p";  // also ends the origin mode, which otherwise cannot end without moving the cursor
  out +=
      "\x1b"
      "7\x1b[r\x1b"
      "8";  // setting a region moves the cursor home: save and restore it
  out += "\x1b(B\x1b)B\x1b*B\x1b+B\x0f\x1b[0m";
  return out;
}

}  // namespace relay::terminal
