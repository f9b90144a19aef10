#include "text/json_cursor.h"

#include "base/format.h"

namespace relay::text {

static_assert(kMaxJsonDepth <= 64, "the open levels are bits of one 64-bit word");

bool JsonCursor::fail(JsonErrc code, const char* reason) {
  code_ = code;
  reason_ = reason;
  return false;
}

Failure JsonCursor::failure() const {
  return relay::fail(code_, format("this is not valid JSON: {} at byte {}", reason_, at_ - begin_));
}

bool JsonCursor::enter() {
  if (depth_ >= kMaxJsonDepth) return fail(JsonErrc::TooDeep, "nested too deeply");
  ++depth_;
  return true;
}

bool JsonCursor::skip_containers() {
  const std::size_t outside = depth_;
  std::uint64_t objects = 0;  // bit 0: is the innermost open level an object?
  const auto in_object = [&] { return depth_ != outside && (objects & 1) != 0; };
  while (true) {
    // A value starts here, with its key when it is a member.
    if (in_object()) {
      if (!skip_string()) return false;
      skip_space();
      if (!take(':')) return fail_here("expected a colon after a key");
      skip_space();
    }
    if (at('{') || at('[')) {
      objects = (objects << 1) | (*at_ == '{' ? 1 : 0);
      if (!enter()) return false;
      ++at_;
      skip_space();
      if (!at(in_object() ? '}' : ']')) continue;
    } else if (JsonKind kind{}; !skip_scalar(kind)) {
      return false;
    }
    // A value ended here, or an empty container is about to; close what closes.
    while (true) {
      skip_space();
      if (take(in_object() ? '}' : ']')) {
        objects >>= 1;
        leave();
        if (depth_ == outside) return true;
        continue;
      }
      if (!take(',')) return fail_here("expected a comma or a closing bracket");
      skip_space();
      break;
    }
  }
}

bool JsonCursor::skip_rest_of_string() {
  while (at('\\')) {
    if (!skip_escape()) return false;
    at_ = end_of_plain_text(at_, end_);
  }
  if (at_ == end_) return fail_here("a string does not end");
  return take('"') || fail_here("a control character inside a string must be escaped");
}

bool JsonCursor::skip_escape() {
  ++at_;
  if (at_ == end_) return fail_here("a string does not end");
  switch (*at_++) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't': return true;
    case 'u': break;
    default: return fail_here("unknown escape");
  }
  std::uint32_t unit = 0;
  if (!read_code_unit(unit)) return false;
  if (unit < 0xD800 || unit > 0xDFFF) return true;
  // Half of a pair is no character: one reader would replace it, another keep it, a third fail.
  std::uint32_t low = 0;
  if (unit > 0xDBFF || !take('\\') || !take('u')) return fail_here("a lone surrogate escape");
  if (!read_code_unit(low)) return false;
  if (low < 0xDC00 || low > 0xDFFF) return fail_here("a lone surrogate escape");
  return true;
}

bool JsonCursor::read_code_unit(std::uint32_t& unit) {
  if (end_ - at_ < 4) return fail_here("an escape needs four hex digits");
  unit = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const char c = *at_;
    const int lower = c | 0x20;
    if (is_digit(c))
      unit = unit * 16 + static_cast<std::uint32_t>(c - '0');
    else if (lower >= 'a' && lower <= 'f')
      unit = unit * 16 + static_cast<std::uint32_t>(lower - 'a' + 10);
    else
      return fail_here("an escape needs four hex digits");
  }
  return true;
}

bool JsonCursor::skip_fraction() {
  if (take('.') && !skip_digits()) return fail_here("a number needs digits after its point");
  if (take('e') || take('E')) {
    if (!take('+')) take('-');
    if (!skip_digits()) return fail_here("a number needs digits in its exponent");
  }
  return true;
}

bool JsonCursor::skip_literal(std::string_view literal, JsonKind kind, JsonKind& found) {
  if (!std::string_view{at_, static_cast<std::size_t>(end_ - at_)}.starts_with(literal)) {
    return fail_here("expected a value");
  }
  at_ += literal.size();
  found = kind;
  return true;
}

}  // namespace relay::text
