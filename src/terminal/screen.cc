#include "terminal/screen.h"

#include <algorithm>

#include "terminal/display.h"
#include "terminal/interpreter.h"
#include "terminal/vt_parser.h"

namespace relay::terminal {

struct Screen::Parts {
  Parts(Size size, Scrollback scrollback) : display{size, std::move(scrollback)} {}

  Display display;
  Interpreter interpreter{display};
  VtParser parser;
};

Screen::Screen(Size size, std::size_t scrollback_rows, std::size_t scrollback_bytes)
    : parts_{std::make_unique<Parts>(size, Scrollback{scrollback_rows, scrollback_bytes})} {}
Screen::Screen(Screen&&) noexcept = default;
Screen& Screen::operator=(Screen&&) noexcept = default;
Screen::~Screen() = default;

void Screen::feed(std::string_view bytes) { parts_->parser.feed(bytes, parts_->interpreter); }
void Screen::resize(Size size) { parts_->display.resize(size); }

const Display& Screen::display() const { return parts_->display; }
Size Screen::size() const { return display().size(); }
const Grid& Screen::grid() const { return display().page().grid; }

Cursor Screen::cursor() const {
  const Pen& pen = display().pen();
  const int last = size().columns - 1;
  return {pen.row, std::min(pen.column, last), pen.column > last, modes().cursor_visible, modes().cursor_shape};
}

const Modes& Screen::modes() const { return display().modes(); }
const std::string& Screen::title() const { return display().title(); }
const ProgramStatus& Screen::program_status() const { return display().status(); }
const Scrollback& Screen::scrollback() const { return display().scrollback(); }
std::uint64_t Screen::revision() const { return display().revision(); }
bool Screen::in_ground_state() const { return parts_->parser.in_ground_state(); }
std::vector<Report> Screen::take_reports() { return parts_->display.take_reports(); }
std::uint64_t Screen::lost_reports() const { return display().lost_reports(); }
std::vector<int> Screen::take_changed_rows() { return parts_->display.take_changed_rows(); }

bool Screen::operator==(const Screen& other) const { return display().equals(other.display()); }

}  // namespace relay::terminal
