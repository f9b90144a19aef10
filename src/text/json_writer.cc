#include "text/json_writer.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/result.h"
#include "text/utf8.h"

namespace relay::text {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

constexpr std::size_t kFirstBytes = 192;  // room of a new text: most payloads fit

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

/// The index, from `at` on, of the first byte that must be escaped. Tests eight bytes at a time: a byte below 0x20, or
/// one that becomes 0 when a quote or a backslash is subtracted, borrows into its top bit; non-ASCII bytes have it set.
std::size_t end_of_plain(std::string_view text, std::size_t at) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  for (; text.size() - at >= sizeof(std::uint64_t); at += sizeof(std::uint64_t)) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    const std::uint64_t quotes = bytes ^ (kOnes * '"');
    const std::uint64_t backslashes = bytes ^ (kOnes * '\\');
    if (((bytes - kOnes * 0x20) | (quotes - kOnes) | (backslashes - kOnes) | bytes) & (kOnes * 0x80)) break;
  }
  while (at < text.size() && is_plain(text[at])) ++at;
  return at;
}

void append_escaped(std::string& out, char c) {
  static constexpr char kDigits[] = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  out += "\\u00";
  out += kDigits[(static_cast<unsigned char>(c) >> 4) & 0xF];
  out += kDigits[static_cast<unsigned char>(c) & 0xF];
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t plain_end = end_of_plain(text, at);
    out.append(text, at, plain_end - at);
    at = plain_end;
    if (at == text.size()) break;
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      append_escaped(out, text[at++]);
      continue;
    }
    const std::size_t start = at;
    if (next_code_point(text, at) == kInvalidCodePoint)
      out += kReplacement;
    else
      out.append(text, start, at - start);
  }
  out += '"';
}

void JsonWriter::comma() {
  if (!first_) text_ += ',';
  first_ = false;
}

JsonWriter::JsonWriter() {
  text_.reserve(kFirstBytes);
  begin_object();
}

void JsonWriter::key(std::string_view name) {
  comma();
  append_json_string(text_, name);
  text_ += ':';
}

void JsonWriter::begin_object() {
  text_ += '{';
  closers_ += '}';
  first_ = true;
}

JsonWriter& JsonWriter::field(std::string_view name, std::string_view text) {
  key(name);
  append_json_string(text_, text);
  return *this;
}

JsonWriter& JsonWriter::field(std::string_view name, bool value) { return raw(name, value ? "true" : "false"); }

JsonWriter& JsonWriter::field(std::string_view name, double value) {
  if (!std::isfinite(value)) return raw(name, "null");
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return raw(name, {digits, static_cast<std::size_t>(end - digits)});
}

JsonWriter& JsonWriter::integer(std::string_view name, std::int64_t value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return raw(name, {digits, static_cast<std::size_t>(end - digits)});
}

JsonWriter& JsonWriter::raw(std::string_view name, std::string_view json) {
  key(name);
  text_ += json;
  return *this;
}

JsonWriter& JsonWriter::optional(std::string_view name, std::string_view text) {
  return text.empty() ? *this : field(name, text);
}

JsonWriter& JsonWriter::begin_object(std::string_view name) {
  key(name);
  begin_object();
  return *this;
}

JsonWriter& JsonWriter::begin_array(std::string_view name) {
  key(name);
  text_ += '[';
  closers_ += ']';
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin_element() {
  comma();
  begin_object();
  return *this;
}

JsonWriter& JsonWriter::element(std::string_view text) {
  comma();
  append_json_string(text_, text);
  return *this;
}

JsonWriter& JsonWriter::raw_element(std::string_view json) {
  comma();
  text_ += json;
  return *this;
}

JsonWriter& JsonWriter::end() {
  RELAY_ASSERT(!closers_.empty());
  text_ += closers_.back();
  closers_.pop_back();
  first_ = false;
  return *this;
}

std::string JsonWriter::take() {
  while (!closers_.empty()) end();
  return std::move(text_);
}

}  // namespace relay::text
