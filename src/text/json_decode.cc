#include <simdjson.h>

#include <charconv>
#include <cmath>
#include <cstring>

#include "text/json_scanner.h"
#include "text/utf8.h"

namespace relay::text {
namespace {

/// 2^53: beyond it a double cannot distinguish neighbouring integers.
constexpr double kLargestExactDouble = 9007199254740992.0;

/// Four hex digits of a checked escape; 0 for anything else, which the scanner would have refused.
char32_t code_unit(std::string_view digits) {
  unsigned value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

std::string_view without_quotes(std::string_view raw) {
  return raw.size() < 2 ? std::string_view{} : raw.substr(1, raw.size() - 2);
}

char unescaped(char c) {
  switch (c) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return c;
  }
}

}  // namespace

bool is_utf8(std::string_view bytes) { return simdjson::validate_utf8(bytes.data(), bytes.size()); }

bool is_plain_string(std::string_view raw) { return raw.find('\\') == std::string_view::npos; }

std::size_t decode_string_into(char* out, std::string_view raw) {
  char* const start = out;
  std::string_view rest = without_quotes(raw);
  while (!rest.empty()) {
    const std::size_t plain = std::min(rest.find('\\'), rest.size());
    std::memcpy(out, rest.data(), plain);
    out += plain;
    rest.remove_prefix(plain);
    if (rest.size() < 2) break;
    if (rest[1] != 'u') {
      *out++ = unescaped(rest[1]);
      rest.remove_prefix(2);
      continue;
    }
    char32_t point = code_unit(rest.substr(2, 4));
    rest.remove_prefix(std::min<std::size_t>(rest.size(), 6));
    if (point >= 0xD800 && point <= 0xDBFF && rest.size() >= 6) {
      point = 0x10000 + ((point - 0xD800) << 10) + ((code_unit(rest.substr(2, 4)) - 0xDC00) & 0x3FF);
      rest.remove_prefix(6);
    }
    out += write_code_point(out, point);
  }
  return static_cast<std::size_t>(out - start);
}

std::string decode_string(std::string_view raw) {
  if (is_plain_string(raw)) return std::string{without_quotes(raw)};
  std::string text(raw.size(), '\0');
  text.resize(decode_string_into(text.data(), raw));
  return text;
}

std::optional<double> decode_number(std::string_view raw) {
  double number = 0;
  const auto [end, problem] = std::from_chars(raw.data(), raw.data() + raw.size(), number);
  if (problem != std::errc{} || end != raw.data() + raw.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<std::int64_t> decode_integer(std::string_view raw) {
  std::int64_t integer = 0;
  const auto [end, problem] = std::from_chars(raw.data(), raw.data() + raw.size(), integer);
  if (end == raw.data() + raw.size()) return problem == std::errc{} ? std::optional{integer} : std::nullopt;
  // JavaScript may write 5.0 or 1e3 for a whole number.
  const auto number = decode_number(raw);
  if (!number || std::trunc(*number) != *number || std::abs(*number) > kLargestExactDouble) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

}  // namespace relay::text
