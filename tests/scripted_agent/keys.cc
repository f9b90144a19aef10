#include "scripted_agent/keys.h"

namespace relay::scripted_agent {
namespace {

constexpr std::string_view kPasteStart = "\x1b[200~";
constexpr std::string_view kPasteEnd = "\x1b[201~";
constexpr std::size_t kMaxPendingBytes = 8 * 1024 * 1024;

using Kind = Key::Kind;

Kind kind_of(char byte) {
  switch (byte) {
    case '\r': return Kind::Enter;
    case '\x03': return Kind::ControlC;
    case '\x15': return Kind::ControlU;
    case '\x7f':
    case '\b': return Kind::Backspace;
    default: return Kind::Other;
  }
}

bool is_text(char byte) { return static_cast<unsigned char>(byte) >= 0x20 && byte != '\x7f'; }

Kind kind_of_sequence(std::string_view sequence) {
  if (sequence == "\x1b[A" || sequence == "\x1bOA") return Kind::Up;
  if (sequence == "\x1b[B" || sequence == "\x1bOB") return Kind::Down;
  if (sequence == "\x1b[I") return Kind::FocusIn;
  if (sequence == "\x1b[O") return Kind::FocusOut;
  if (sequence.starts_with("\x1b[") && (sequence.back() == 'c' || sequence.back() == 'R' || sequence.back() == 'u'))
    return Kind::Reply;
  return Kind::Other;
}

}  // namespace

std::vector<Key> KeyReader::read(std::string_view bytes) {
  pending_ += bytes;
  std::vector<Key> keys;
  while (!pending_.empty() && take(keys)) {}
  if (pending_.size() > kMaxPendingBytes) pending_.clear();
  return keys;
}

std::vector<Key> KeyReader::flush() {
  if (!has_pending_escape()) return {};
  pending_.clear();
  return {{Kind::Escape}};
}

bool KeyReader::take(std::vector<Key>& keys) {
  if (pending_.front() == '\x1b') return take_sequence(keys);
  std::size_t length = 0;
  while (length < pending_.size() && is_text(pending_[length])) ++length;
  if (length > 0) {
    keys.push_back({Kind::Text, pending_.substr(0, length)});
  } else {
    keys.push_back({kind_of(pending_.front())});
    length = 1;
  }
  pending_.erase(0, length);
  return true;
}

bool KeyReader::take_sequence(std::vector<Key>& keys) {
  if (pending_.size() < 2) return false;
  std::size_t end = 0;  // one past the sequence
  Kind kind = Kind::Other;
  std::string text;
  switch (pending_[1]) {
    case '[': {
      end = pending_.find_first_of("@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~", 2);
      if (end == std::string::npos) return false;
      ++end;
      if (pending_.starts_with(kPasteStart)) {
        const auto close = pending_.find(kPasteEnd, kPasteStart.size());
        if (close == std::string::npos) return false;
        text = pending_.substr(kPasteStart.size(), close - kPasteStart.size());
        kind = Kind::Paste;
        end = close + kPasteEnd.size();
      } else {
        kind = kind_of_sequence(std::string_view{pending_}.substr(0, end));
      }
      break;
    }
    case 'O':
      if (pending_.size() < 3) return false;
      end = 3;
      kind = kind_of_sequence(std::string_view{pending_}.substr(0, end));
      break;
    case ']':
    case 'P': {
      const auto bell = pending_.find('\a'), terminator = pending_.find("\x1b\\", 2);
      if (bell == std::string::npos && terminator == std::string::npos) return false;
      end = bell < terminator ? bell + 1 : terminator + 2;
      kind = Kind::Reply;
      break;
    }
    default: end = 1; kind = Kind::Escape;
  }
  if (kind == Kind::Reply) text = pending_.substr(1, end - 1);
  keys.push_back({kind, text});
  pending_.erase(0, end);
  return true;
}

}  // namespace relay::scripted_agent
