#include "terminal/display.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "text/utf8.h"

namespace relay::terminal {
namespace {

constexpr std::size_t kMaxTitleStack = 10;

}  // namespace

Display::Display(Size size, Scrollback scrollback)
    : size_{clamped(size)},
      primary_{size_},
      alternate_{size_},
      tabs_{size_.columns},
      scrollback_{std::move(scrollback)},
      changed_(static_cast<std::size_t>(size_.rows), 0) {}

void Display::resize(Size size) {
  size = clamped(size);
  if (size == size_) return;
  resize_primary(size);
  alternate_.grid.resize(size);
  for (Page* page : {&primary_, &alternate_}) {
    page->top = 0;
    page->bottom = size.rows - 1;
    page->saved.pen.row = std::min(page->saved.pen.row, size.rows - 1);
    page->saved.pen.column = std::min(page->saved.pen.column, size.columns - 1);
  }
  size_ = size;
  pen_.row = std::min(pen_.row, size.rows - 1);
  pen_.column = std::min(pen_.column, size.columns - 1);
  tabs_.resize(size.columns);
  changed_.resize(static_cast<std::size_t>(size.rows));
  mark_rows(0, size.rows - 1);
  cluster_.reset();
}

/// With fewer rows, the rows below the cursor are cut first, then the top moves to the scrollback. No reflow
/// (README.md).
void Display::resize_primary(Size size) {
  Pen& pen = modes_.alternate_screen ? primary_.saved.pen : pen_;
  const int excess = std::max(0, pen.row - size.rows + 1);
  if (excess > 0) {
    save_to_scrollback(excess);
    primary_.grid.scroll_up(0, size_.rows - 1, excess, Style{});
    pen.row -= excess;
    if (!modes_.alternate_screen) primary_.saved.pen.row = std::max(0, primary_.saved.pen.row - excess);
  }
  primary_.grid.resize(size);
}

void Display::enter_alternate(ScreenSwitch mode) {
  if (mode == ScreenSwitch::SavingPen) save_pen();
  if (modes_.alternate_screen) return;
  modes_.alternate_screen = true;
  alternate_.grid.clear(erase_style());
  if (modes_.origin) clamp_pen();
  sync_keyboard();
  mark_rows(0, size_.rows - 1);
  report(AlternateEntered{});
}

void Display::leave_alternate(ScreenSwitch mode) {
  if (modes_.alternate_screen) {
    modes_.alternate_screen = false;
    reset_alternate();
    if (modes_.origin) clamp_pen();
    sync_keyboard();
    mark_rows(0, size_.rows - 1);
    report(AlternateLeft{});
  }
  if (mode == ScreenSwitch::SavingPen) restore_pen();
}

/// Clears the hidden screen, so that the next program starts on an empty one.
void Display::reset_alternate() {
  alternate_.grid.clear(Style{});
  alternate_.top = 0;
  alternate_.bottom = size_.rows - 1;
  alternate_.saved = {};
  alternate_.keyboard_stack.clear();
  alternate_.keyboard_flags = 0;
}

void Display::set_origin(bool on) {
  modes_.origin = on;
  move_to(0, 0);
}

void Display::soft_reset() {
  Page& page = this->page();
  page.top = 0;
  page.bottom = size_.rows - 1;
  page.saved = {};
  pen_.style = {};
  pen_.charsets = {};
  const bool alternate = modes_.alternate_screen;
  modes_.cursor_visible = true;
  modes_.insert = modes_.origin = modes_.application_cursor = modes_.application_keypad = false;
  modes_.autowrap = true;
  modes_.alternate_screen = alternate;
}

void Display::full_reset() {
  primary_ = Page{size_};
  alternate_ = Page{size_};
  pen_ = {};
  modes_ = {};
  tabs_.reset();
  titles_.clear();
  scrollback_.clear();
  cluster_.reset();
  mark_rows(0, size_.rows - 1);
  report(FullReset{});
}

void Display::set_title(std::string_view title) {
  std::string printable = text::printable_utf8(title, kMaxTitleBytes);
  if (printable == title_) return;
  title_ = std::move(printable);
  report(TitleChanged{title_});
}

void Display::push_title() {
  if (titles_.size() == kMaxTitleStack) titles_.erase(titles_.begin());
  titles_.push_back(title_);
}

void Display::pop_title() {
  if (titles_.empty()) return;
  const std::string title = std::move(titles_.back());
  titles_.pop_back();
  set_title(title);
}

void Display::set_status(const ProgramStatus& status) {
  status_ = status;
  report(StatusChanged{status});
}

void Display::push_keyboard(std::uint8_t flags) {
  Page& page = this->page();
  if (page.keyboard_stack.size() == kMaxKeyboardStack) page.keyboard_stack.erase(page.keyboard_stack.begin());
  page.keyboard_stack.push_back(page.keyboard_flags);
  page.keyboard_flags = flags;
  sync_keyboard();
}

void Display::pop_keyboard(int count) {
  Page& page = this->page();
  for (; count > 0; --count) {
    page.keyboard_flags = 0;
    if (page.keyboard_stack.empty()) break;
    page.keyboard_flags = page.keyboard_stack.back();
    page.keyboard_stack.pop_back();
  }
  sync_keyboard();
}

void Display::change_keyboard(std::uint8_t flags, KeyboardChange change) {
  std::uint8_t& current = page().keyboard_flags;
  switch (change) {
    case KeyboardChange::Replace: current = flags; break;
    case KeyboardChange::Add: current = static_cast<std::uint8_t>(current | flags); break;
    case KeyboardChange::Remove: current = static_cast<std::uint8_t>(current & ~flags); break;
  }
  sync_keyboard();
}

Position Display::program_cursor() const {
  const int top = modes_.origin ? page().top : 0;
  return {pen_.row - top, std::min(pen_.column, size_.columns - 1)};
}

void Display::report(Report report) {
  if (reports_.size() == kMaxReports) {
    reports_.pop_front();
    ++lost_reports_;
  }
  reports_.push_back(std::move(report));
}

std::vector<Report> Display::take_reports() {
  std::vector<Report> taken{std::make_move_iterator(reports_.begin()), std::make_move_iterator(reports_.end())};
  reports_.clear();
  return taken;
}

std::vector<int> Display::take_changed_rows() {
  std::vector<int> rows;
  for (std::size_t index = 0; index < changed_.size(); ++index) {
    if (changed_[index] != 0) rows.push_back(static_cast<int>(index));
    changed_[index] = 0;
  }
  return rows;
}

bool Display::equals(const Display& other) const {
  return size_ == other.size_ && pen_ == other.pen_ && modes_ == other.modes_ && tabs_ == other.tabs_ &&
         title_ == other.title_ && primary_ == other.primary_ && alternate_ == other.alternate_;
}

}  // namespace relay::terminal
