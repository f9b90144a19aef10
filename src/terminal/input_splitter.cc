#include "terminal/input_splitter.h"

#include <algorithm>
#include <utility>

#include "terminal/input_csi.h"
#include "terminal/limits.h"

namespace relay::terminal {
namespace {

constexpr char kEscape = '\x1b';
constexpr std::string_view kPasteStart = "\x1b[200~";
constexpr std::string_view kPasteEnd = "\x1b[201~";
constexpr std::size_t kSliceBytes = 4'096;
constexpr std::size_t kLegacyMouseBytes = 6;  // ESC [ M button column row

bool is_control(char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f; }

/// Length of the character that starts with this byte; 1 for a byte that cannot start one.
std::size_t character_bytes(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte >= 0xf0 && byte <= 0xf4) return 4;
  if (byte >= 0xe0) return byte < 0xf0 ? 3 : 1;
  return byte >= 0xc2 ? 2 : 1;
}

/// Number of bytes at the end that are the start of an incomplete character.
std::size_t incomplete_tail(std::string_view text) {
  const std::size_t reach = std::min<std::size_t>(3, text.size());
  for (std::size_t back = 1; back <= reach; ++back) {
    const char byte = text[text.size() - back];
    if ((static_cast<unsigned char>(byte) & 0xc0) == 0x80) continue;
    return character_bytes(byte) > back ? back : 0;
  }
  return 0;
}

/// True for strings that a terminal sends; ESC with any other character is that character with Alt.
bool starts_string(char introducer, char first) {
  const bool digit = first >= '0' && first <= '9';
  switch (introducer) {
    case ']': return digit || first == 'l' || first == 'L';
    case 'P': return digit || first == '>' || first == '!' || first == '$' || first == '+';
    case '_': return first == 'G';
    default: return false;
  }
}

bool is_introducer(char byte) { return byte == ']' || byte == 'P' || byte == '_'; }

}  // namespace

std::vector<InputEvent> InputSplitter::feed(std::string_view bytes, SteadyTime now) {
  last_fed_ = now;
  while (!bytes.empty()) {  // in slices, so that cutting many small events off the front stays cheap
    pending_ += bytes.substr(0, kSliceBytes);
    bytes.remove_prefix(std::min(bytes.size(), kSliceBytes));
    while (!pending_.empty() && cut_event()) {}
  }
  return std::exchange(events_, {});
}

std::optional<SteadyTime> InputSplitter::deadline() const {
  if (pending_.empty()) return std::nullopt;
  return last_fed_ + Millis{reply_started() ? kReplyTimeoutMs : kEscapeTimeoutMs};
}

std::vector<InputEvent> InputSplitter::expire(SteadyTime now) {
  const auto due = deadline();
  if (!due || now < *due) return {};
  if (state_ == State::Paste) {
    emit(InputKind::Paste, pending_.size(), pending_);
  } else if (state_ == State::LongReply || (reply_started() && pending_.size() > 2)) {
    emit(InputKind::Reply, pending_.size());
    state_ = State::Nothing;
  } else if (pending_.front() == kEscape) {
    emit(InputKind::Key, pending_.size());
  } else {
    emit(InputKind::Text, pending_.size(), pending_);
  }
  return std::exchange(events_, {});
}

/// Users do not type these, so the rest of the sequence must be in transit.
bool InputSplitter::reply_started() const {
  if (state_ != State::Nothing) return true;
  if (pending_.size() < 2 || pending_.front() != kEscape) return false;
  return pending_[1] == '[' || (pending_.size() > 2 && is_introducer(pending_[1]));
}

void InputSplitter::emit(InputKind kind, std::size_t bytes, std::string text) {
  events_.push_back({.kind = kind, .bytes = pending_.substr(0, bytes), .text = std::move(text)});
  if (kind == InputKind::Paste) events_.back().paste_start = std::exchange(paste_start_, false);
  pending_.erase(0, bytes);
}

bool InputSplitter::cut_event() {
  if (state_ == State::Paste) return cut_paste();
  if (state_ == State::LongReply) return cut_long_reply();
  if (pending_.front() == kEscape) return cut_escape();
  if (pending_.front() == '\r') return emit(InputKind::Enter, 1), true;
  if (is_control(pending_.front())) return emit(InputKind::Key, 1), true;
  return cut_text();
}

bool InputSplitter::cut_text() {
  const auto end = std::find_if(pending_.begin(), pending_.end(), is_control);
  std::size_t bytes = static_cast<std::size_t>(end - pending_.begin());
  if (end == pending_.end()) bytes -= incomplete_tail(pending_);
  if (bytes == 0) return false;
  emit(InputKind::Text, bytes, pending_.substr(0, bytes));
  return true;
}

bool InputSplitter::cut_escape() {
  if (pending_.size() < 2) return false;
  const char second = pending_[1];
  if (second == kEscape) return emit(InputKind::Key, 1), true;
  if (second == '[') return cut_csi();
  if (is_introducer(second)) {
    if (pending_.size() < 3) return false;
    if (starts_string(second, pending_[2])) return cut_string();
  }
  if (second == 'O') {
    if (pending_.size() < 3) return false;
    if (is_control(pending_[2])) return emit(InputKind::Key, 2), true;
    return emit(pending_[2] == 'M' ? InputKind::Enter : InputKind::Key, 3), true;
  }
  const std::size_t bytes = 1 + character_bytes(second);  // a character with Alt
  if (pending_.size() < bytes) return false;
  emit(InputKind::Key, bytes);
  return true;
}

bool InputSplitter::cut_csi() {
  if (pending_.starts_with(kPasteStart)) {
    state_ = State::Paste;
    paste_start_ = true;
    return cut_paste();
  }
  if (pending_.size() >= 3 && (pending_[2] == 'M' || pending_[2] == '[')) {
    const std::size_t bytes = pending_[2] == 'M' ? kLegacyMouseBytes : 4;  // ESC [ [ A: the console's F1
    if (pending_.size() < bytes) return false;
    emit(pending_[2] == 'M' ? InputKind::Mouse : InputKind::Key, bytes);
    return true;
  }
  std::size_t at = 2;
  while (at < pending_.size() && pending_[at] >= 0x20 && pending_[at] <= 0x3f) ++at;
  if (at > kMaxInputSequenceBytes) return emit(InputKind::Reply, at), true;
  if (at == pending_.size()) return false;
  if (pending_[at] < 0x40 || pending_[at] == 0x7f) return emit(InputKind::Key, at), true;  // incomplete sequence
  auto [kind, text] = classify_csi(std::string_view{pending_}.substr(0, at + 1));
  emit(kind, at + 1, std::move(text));
  return true;
}

bool InputSplitter::cut_string() {
  for (std::size_t at = 2; at < pending_.size(); ++at) {
    if (pending_[at] == '\a' && pending_[1] == ']') return emit(InputKind::Reply, at + 1), true;
    if (pending_[at] != kEscape) continue;
    if (at + 1 == pending_.size()) return false;
    return emit(InputKind::Reply, pending_[at + 1] == '\\' ? at + 2 : at), true;
  }
  if (pending_.size() <= kMaxStringBytes) return false;
  emit(InputKind::Reply, pending_.size());
  state_ = State::LongReply;
  return true;
}

bool InputSplitter::cut_long_reply() {
  const auto end = pending_.find_first_of("\a\x1b");
  if (end == std::string::npos) return emit(InputKind::Reply, pending_.size()), true;
  if (pending_[end] == '\a') {
    state_ = State::Nothing;
    return emit(InputKind::Reply, end + 1), true;
  }
  if (end > 0) return emit(InputKind::Reply, end), true;
  if (pending_.size() < 2) return false;
  state_ = State::Nothing;
  if (pending_[1] == '\\') emit(InputKind::Reply, 2);
  return true;
}

bool InputSplitter::cut_paste() {
  const std::size_t start = paste_start_ ? kPasteStart.size() : 0;
  const auto end = pending_.find(kPasteEnd, start);
  if (end != std::string::npos) {
    emit(InputKind::Paste, end + kPasteEnd.size(), pending_.substr(start, end - start));
    events_.back().paste_end = true;
    state_ = State::Nothing;
    return true;
  }
  std::size_t held = std::min(pending_.size() - start, kPasteEnd.size() - 1);
  while (held > 0 && !kPasteEnd.starts_with(std::string_view{pending_}.substr(pending_.size() - held))) --held;
  const std::size_t bytes = pending_.size() - held;
  if (bytes == 0) return false;
  emit(InputKind::Paste, bytes, pending_.substr(start, bytes - start));
  return true;
}

}  // namespace relay::terminal
