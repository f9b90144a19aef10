#include "profiles/line_extractor.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "text/utf8.h"

namespace relay::profiles {
namespace {

constexpr std::uint32_t kMaxBlanks = 1'000;  // in place of one "cursor right"

constexpr std::size_t kMaxEchoes = 64;  // lines that are typed ahead

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

bool is_alternate_screen(std::uint32_t mode) { return mode == 47 || mode == 1'047 || mode == 1'049; }

/// The last character behind the first `before` bytes.
void erase_last(std::string& text, std::size_t before = 0) {
  while (text.size() > before && is_continuation(text.back())) text.pop_back();
  if (text.size() > before) text.pop_back();
}

void move_to(std::vector<commands::Command>& all, std::vector<commands::Command> more) {
  std::ranges::move(more, std::back_inserter(all));
}

}  // namespace

std::vector<commands::Command> LineExtractor::feed(std::string_view bytes) {
  parser_.feed(bytes, *this);
  return std::exchange(commands_, {});
}

std::vector<commands::Command> LineExtractor::flush() { return extractor_.flush(); }

std::vector<commands::Command> LineExtractor::finish() {
  if (echo_) echoes_.push_back(*std::exchange(echo_, std::nullopt));
  if (!cursor_.line.empty()) end_line();
  move_to(commands_, extractor_.finish());
  return std::exchange(commands_, {});
}

/// Echoes keys as the kernel's line discipline does, with its default keys.
void LineExtractor::on_echoed_keys(std::string_view keys) {
  constexpr char kErase = 0x7f, kEraseWord = 'W' & 0x1f, kEraseLine = 'U' & 0x1f, kEnd = 'D' & 0x1f;
  for (const char key : keys) {
    if (!echo_) {
      const bool typed_ahead = !echoes_.empty() || cursor_.returned;  // a row that does not exist yet, or is replaced
      echo_ = Echo{.row = typed_ahead ? "" : cursor_.line};
      echo_->before = echo_->row.size();
    }
    auto& [row, before] = *echo_;
    if (key == '\r' || key == '\n') {
      echoes_.push_back(*std::exchange(echo_, std::nullopt));
      if (echoes_.size() > kMaxEchoes) echoes_.pop_front();
    } else if (key == kErase || key == '\b') {
      erase_last(row, before);
    } else if (key == kEraseWord) {
      while (row.size() > before && row.back() == ' ') row.pop_back();
      while (row.size() > before && row.back() != ' ') row.pop_back();
    } else if (key == kEraseLine) {
      row.resize(before);
    } else if (row.size() <= commands::kMaxLineBytes && key != kEnd) {
      if (key == '\t' || static_cast<unsigned char>(key) >= ' ')
        row += key;
      else
        row.append({'^', static_cast<char>(key ^ 0x40)});
    }
  }
}

/// Echoes arrive in the order of the keys; skipped ones are dropped.
bool LineExtractor::is_echo() {
  const auto found = std::ranges::find(echoes_, cursor_.line, &Echo::row);
  if (found == echoes_.end()) return false;
  echoes_.erase(echoes_.begin(), found + 1);
  return true;
}

std::string_view LineExtractor::unread_reason() const {
  if (alternate_) return "a full-screen program is running; its screen is not read";
  if (cursor_.addressed)
    return "the program has positioned the cursor: its lines are read again once the screen is "
           "cleared or has scrolled";
  return {};
}

void LineExtractor::print(std::string_view utf8) {
  blank_ = cursor_.home = false;
  if (std::exchange(cursor_.returned, false)) cursor_.line.clear();
  const auto room = commands::kMaxLineBytes + 1 - std::min(cursor_.line.size(), commands::kMaxLineBytes + 1);
  cursor_.line.append(utf8.substr(0, room));  // one byte too many shows the extractor that the line is truncated
}

void LineExtractor::text(std::string_view ascii) { print(ascii); }

void LineExtractor::character(char32_t code) {
  std::string utf8;
  text::append_utf8(utf8, code);
  print(utf8);
}

void LineExtractor::control(char code) {
  switch (code) {
    case '\n':
    case '\v':
    case '\f': return end_line();
    case '\r': cursor_.returned = true; return;
    case '\t': return print("\t");
    case '\b': return erase_last(cursor_.line);
    default: return;
  }
}

void LineExtractor::end_line() {
  blank_ = cursor_.home = false;
  const bool printed = !alternate_ && !cursor_.addressed && !cursor_.misplaced && cursor_.row > last_row_;
  if (!alternate_ && is_echo()) {
    if (printed) last_row_ = cursor_.row;
  } else if (printed) {
    cursor_.line += '\n';
    move_to(commands_, extractor_.feed(cursor_.line));
    last_row_ = cursor_.row;
  }
  ++cursor_.row;
  if (cursor_.addressed && --cursor_.below < 0) {  // the screen has scrolled: this row is new
    cursor_.addressed = false;
    cursor_.row = last_row_ + 1;
  }
  cursor_.line.clear();
  cursor_.returned = cursor_.misplaced = false;
}

void LineExtractor::move_rows(std::int64_t rows) {
  cursor_.home = false;
  cursor_.below = std::max<std::int64_t>(cursor_.below - rows, 0);
  cursor_.row += rows;
  cursor_.line.clear();
  cursor_.misplaced = false;
  stay_on_screen();
}

/// Rows that have scrolled off cannot be reached.
void LineExtractor::stay_on_screen() { cursor_.row = std::max(cursor_.row, last_row_ + 1 - rows_); }

void LineExtractor::restore_cursor() {
  cursor_ = saved_;
  stay_on_screen();
}

/// An empty screen: all later output is new.
void LineExtractor::reset_screen() {
  cursor_ = {};
  cursor_.row = last_row_ + 1;
  blank_ = true;
}

void LineExtractor::address(int row, int column) {
  const bool home = row <= 1 && column <= 1;
  if (home && blank_) return reset_screen();
  cursor_.addressed = true;
  cursor_.home = home;
  cursor_.below = std::max(rows_ - row, 0);
}

/// Each screen has its own cursor and saved cursor.
void LineExtractor::set_alternate(bool active) {
  if (std::exchange(alternate_, active) == active) return;
  blank_ = false;
  if (active) {
    main_cursor_ = std::exchange(cursor_, {});
    main_saved_ = std::exchange(saved_, {});
  } else {
    cursor_ = std::exchange(main_cursor_, {});
    saved_ = std::exchange(main_saved_, {});
  }
}

void LineExtractor::escape(char intermediate, char final) {
  if (intermediate != 0) return;
  if (final == '7') saved_ = cursor_;
  if (final == '8') restore_cursor();
  if (final == 'M') move_rows(-1);
  if (final == 'D' || final == 'E') end_line();
  if (final == 'c') reset_screen();
}

void LineExtractor::csi(const terminal::Sequence& sequence) {
  const auto& numbers = sequence.parameters;
  if (sequence.prefix == '?' && (sequence.final == 'h' || sequence.final == 'l')) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (is_alternate_screen(numbers[i])) set_alternate(sequence.final == 'h');
    return;
  }
  if (sequence.prefix != 0 || sequence.intermediate != 0) return;
  const auto count = numbers.or_default(0, 1);
  switch (sequence.final) {
    case 'A':
    case 'F': return move_rows(-count);
    case 'B':
    case 'E': return move_rows(count);
    case 'C': return print(std::string(std::min<std::uint32_t>(static_cast<std::uint32_t>(count), kMaxBlanks), ' '));
    case 'G':
    case '`':
      if (count == 1)
        cursor_.returned = true;
      else
        cursor_.misplaced = true;
      return;
    case 'D':
    case 'P':
    case '@': cursor_.misplaced = true; return;
    case 'H':
    case 'f': return address(numbers.or_default(0, 1), numbers.or_default(1, 1));
    case 'd': return address(numbers.or_default(0, 1), 2);
    case 'K':
      if (numbers[0] == 2 || cursor_.returned) cursor_.line.clear();
      return;
    case 'J':
      if (numbers[0] == 2 || (numbers[0] == 0 && cursor_.home)) reset_screen();
      return;
    case 's': saved_ = cursor_; return;
    case 'u': return restore_cursor();
    default: return;
  }
}

}  // namespace relay::profiles
