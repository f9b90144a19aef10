#include "terminal/program_status.h"

#include <algorithm>
#include <array>
#include <utility>

#include "terminal/limits.h"
#include "text/utf8.h"

namespace relay::terminal {
namespace {

constexpr std::array<std::pair<std::string_view, ProgramState>, 6> kStates = {{{"idle", ProgramState::Idle},
                                                                               {"working", ProgramState::Working},
                                                                               {"blocked", ProgramState::Blocked},
                                                                               {"done", ProgramState::Done},
                                                                               {"error", ProgramState::Error},
                                                                               {"clear", ProgramState::Clear}}};

std::optional<ProgramState> parse_state(std::string_view name) {
  for (const auto& [text, state] : kStates)
    if (text == name) return state;
  return std::nullopt;
}

BlockedKind parse_kind(std::string_view name) {
  if (name == "permission") return BlockedKind::Permission;
  if (name == "question") return BlockedKind::Question;
  if (name == "auth") return BlockedKind::Auth;
  return BlockedKind::Other;
}

int base64_value(char digit) {
  if (digit >= 'A' && digit <= 'Z') return digit - 'A';
  if (digit >= 'a' && digit <= 'z') return digit - 'a' + 26;
  if (digit >= '0' && digit <= '9') return digit - '0' + 52;
  if (digit == '+' || digit == '-') return 62;
  if (digit == '/' || digit == '_') return 63;
  return -1;
}

/// Stops at the first invalid character, so that a damaged message preserves its start.
std::string decode_base64(std::string_view encoded) {
  std::string decoded;
  unsigned bits = 0;
  int bit_count = 0;
  for (const char digit : encoded) {
    const int value = base64_value(digit);
    if (value < 0 || decoded.size() >= kMaxStatusMessageBytes) break;
    bits = ((bits << 6) | static_cast<unsigned>(value)) & 0xffffu;
    bit_count += 6;
    if (bit_count < 8) continue;
    bit_count -= 8;
    decoded += static_cast<char>(static_cast<unsigned char>(bits >> bit_count));
  }
  return decoded;
}

}  // namespace

std::optional<ProgramStatus> parse_program_status(std::string_view fields) {
  ProgramStatus status;
  std::optional<ProgramState> state;
  while (!fields.empty()) {
    const std::string_view field = fields.substr(0, fields.find(':'));
    fields.remove_prefix(std::min(fields.size(), field.size() + 1));
    const auto equals = field.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = field.substr(0, equals);
    const std::string_view value = field.substr(equals + 1);
    if (name == "state") state = parse_state(value);
    if (name == "app") status.app = text::printable_utf8(value, kMaxStatusNameBytes);
    if (name == "kind") status.kind = parse_kind(value);
    if (name == "msg") status.message = text::printable_utf8(decode_base64(value), kMaxStatusMessageBytes);
  }
  if (!state) return std::nullopt;
  status.state = *state;
  return status;
}

std::string_view name_of(ProgramState state) {
  for (const auto& [name, candidate] : kStates)
    if (candidate == state) return name;
  return "unknown";
}

}  // namespace relay::terminal
