#include "cli/chat/line_editor.h"

#include <algorithm>
#include <utility>

#include "cli/render/text_cells.h"

namespace relay::cli {
namespace {

constexpr std::size_t kMaxSearchBytes = 256;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

/// Letters and digits of ASCII, and everything beyond ASCII.
bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Line ends as one kind, no other control characters.
std::string cleaned(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\r') {
      if (at + 1 == text.size() || text[at + 1] != '\n') out += '\n';
    } else if (c == '\n' || c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F)) {
      out += c;
    }
  }
  return out;
}

}  // namespace

EditResult LineEditor::insert(std::string_view text) {
  const auto fresh = cleaned(text);
  if (fresh.empty()) return EditResult::Nothing;
  if (search_) {
    if (search_->size() + fresh.size() > kMaxSearchBytes || fresh.find('\n') != std::string::npos)
      return EditResult::Refused;
    *search_ += fresh;
    return search_from(found_ + 1);
  }
  if (text_.size() + fresh.size() > kMaxEditedBytes) return EditResult::Refused;
  text_.insert(cursor_, fresh);
  cursor_ += fresh.size();
  // A combining mark joins the character before it.
  for (const auto& cell : cells_of(text_))
    if (cell.begin < cursor_ && cursor_ < cell.end) cursor_ = cell.end;
  return EditResult::Line;
}

EditResult LineEditor::press(EditorKey key) {
  if (search_) return press_in_search(key);
  switch (key) {
    case EditorKey::None:
    case EditorKey::Cancel: return EditResult::Nothing;
    case EditorKey::Enter: return EditResult::Entered;
    case EditorKey::NewLine: return insert("\n");
    case EditorKey::Left: return move_to(before(cursor_));
    case EditorKey::Right: return move_to(after(cursor_));
    case EditorKey::WordLeft: return move_to(word_before(cursor_));
    case EditorKey::WordRight: return move_to(word_after(cursor_));
    case EditorKey::Home: return move_to(row_start());
    case EditorKey::End: return move_to(row_end());
    case EditorKey::Older: {
      const auto from = recalled_.value_or(history_.size());
      return from == 0 ? EditResult::Refused : recall(from - 1);
    }
    case EditorKey::Newer: return recalled_ ? recall(*recalled_ + 1) : EditResult::Refused;
    case EditorKey::Backspace: return erase(before(cursor_), cursor_);
    case EditorKey::Delete: return erase(cursor_, after(cursor_));
    case EditorKey::KillToEnd: return kill(cursor_, row_end() == cursor_ ? after(cursor_) : row_end());
    case EditorKey::KillToStart: return kill(row_start(), cursor_);
    case EditorKey::KillWordBack: return kill(blank_word_before(cursor_), cursor_);
    case EditorKey::KillWordForward: return kill(cursor_, word_after(cursor_));
    case EditorKey::Yank: return killed_.empty() ? EditResult::Refused : insert(killed_);
    case EditorKey::Complete: return EditResult::Complete;
    case EditorKey::Search:
      before_search_ = text_;
      found_ = history_.size();
      search_.emplace();
      return EditResult::Line;
    case EditorKey::Interrupt: return interrupt();
    case EditorKey::EndOfInput: return text_.empty() ? EditResult::Ended : erase(cursor_, after(cursor_));
    case EditorKey::ClearScreen: return EditResult::ClearScreen;
    case EditorKey::Suspend: return EditResult::Suspend;
  }
  return EditResult::Nothing;
}

EditResult LineEditor::press_in_search(EditorKey key) {
  switch (key) {
    case EditorKey::None: return EditResult::Nothing;
    case EditorKey::Search: return search_from(found_);
    case EditorKey::Backspace:
      if (search_->empty()) return EditResult::Refused;
      search_->resize(cells_of(*search_).back().begin);
      return search_from(history_.size());
    case EditorKey::Cancel:
    case EditorKey::Interrupt:
      set(std::move(before_search_));
      end_search();
      return EditResult::Line;
    default:  // every other key works on what was found
      end_search();
      return press(key);
  }
}

/// The newest line before `index` with the words; the one that was found stays when there is none.
EditResult LineEditor::search_from(std::size_t index) {
  const auto found = history_.find_before(index, *search_);
  search_failed_ = !found;
  if (!found) return EditResult::Refused;
  found_ = *found;
  set(history_.at(found_));
  recalled_ = found_;
  return EditResult::Line;
}

void LineEditor::end_search() {
  search_.reset();
  before_search_.clear();
  search_failed_ = false;
}

EditResult LineEditor::interrupt() {
  if (text_.empty()) return EditResult::Left;
  set({});
  recalled_.reset();
  return EditResult::Cleared;
}

std::string LineEditor::take() {
  end_search();
  recalled_.reset();
  draft_.clear();
  cursor_ = 0;
  auto line = std::exchange(text_, {});
  history_.add(line);
  return line;
}

void LineEditor::replace_before_cursor(std::size_t begin, std::string_view text) {
  const auto fresh = cleaned(text);
  if (begin > cursor_ || text_.size() + fresh.size() > kMaxEditedBytes) return;
  text_.replace(begin, cursor_ - begin, fresh);
  cursor_ = begin + fresh.size();
}

void LineEditor::set(std::string text) {
  text_ = std::move(text);
  cursor_ = text_.size();
}

EditResult LineEditor::move_to(std::size_t place) {
  if (place == cursor_) return EditResult::Nothing;
  cursor_ = place;
  return EditResult::Line;
}

EditResult LineEditor::erase(std::size_t begin, std::size_t end) {
  if (begin >= end) return EditResult::Refused;
  text_.erase(begin, end - begin);
  cursor_ = begin;
  return EditResult::Line;
}

EditResult LineEditor::kill(std::size_t begin, std::size_t end) {
  if (begin >= end) return EditResult::Refused;
  killed_ = text_.substr(begin, end - begin);
  return erase(begin, end);
}

EditResult LineEditor::recall(std::size_t index) {
  if (index > history_.size()) return EditResult::Refused;
  if (!recalled_) draft_ = text_;
  if (index == history_.size()) {
    recalled_.reset();
    set(std::exchange(draft_, {}));
  } else {
    recalled_ = index;
    set(history_.at(index));
  }
  return EditResult::Line;
}

std::size_t LineEditor::before(std::size_t place) const {
  const auto cells = cells_of(std::string_view{text_}.substr(0, place));
  return cells.empty() ? place : cells.back().begin;
}

std::size_t LineEditor::after(std::size_t place) const {
  const auto cells = cells_of(std::string_view{text_}.substr(place));
  return cells.empty() ? place : place + cells.front().end;
}

std::size_t LineEditor::word_before(std::size_t place) const {
  while (place > 0 && !is_word(text_[place - 1])) --place;
  while (place > 0 && is_word(text_[place - 1])) --place;
  return place;
}

std::size_t LineEditor::word_after(std::size_t place) const {
  while (place < text_.size() && !is_word(text_[place])) ++place;
  while (place < text_.size() && is_word(text_[place])) ++place;
  return place;
}

std::size_t LineEditor::blank_word_before(std::size_t place) const {
  while (place > 0 && is_blank(text_[place - 1])) --place;
  while (place > 0 && !is_blank(text_[place - 1])) --place;
  return place;
}

std::size_t LineEditor::row_start() const {
  const auto line_end = cursor_ == 0 ? std::string::npos : text_.rfind('\n', cursor_ - 1);
  return line_end == std::string::npos ? 0 : line_end + 1;
}

std::size_t LineEditor::row_end() const { return std::min(text_.find('\n', cursor_), text_.size()); }

}  // namespace relay::cli
