#include "transcripts/fields.h"

#include <algorithm>
#include <cctype>

#include "transcripts/limits.h"

namespace relay::transcripts {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// The four hex digits at `at` as a number; empty if they are not digits.
std::optional<unsigned> hex_at(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return std::nullopt;
  unsigned value = 0;
  for (const char c : text.substr(at, 4)) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isxdigit(byte) == 0) return std::nullopt;
    value = value * 16 + static_cast<unsigned>(std::isdigit(byte) != 0 ? c - '0' : std::tolower(byte) - 'a' + 10);
  }
  return value;
}

bool is_leading(unsigned unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_trailing(unsigned unit) { return unit >= 0xDC00 && unit < 0xE000; }

std::string replace_lone_surrogates(std::string_view line) {
  std::string repaired{line};
  for (std::size_t at = repaired.find('\\'); at != std::string::npos; at = repaired.find('\\', at)) {
    const auto unit = at + 1 < repaired.size() && repaired[at + 1] == 'u' ? hex_at(repaired, at + 2) : std::nullopt;
    if (!unit || (!is_leading(*unit) && !is_trailing(*unit))) {
      at += 2;
      continue;
    }
    const auto next = repaired.compare(at + 6, 2, "\\u") == 0 ? hex_at(repaired, at + 8) : std::nullopt;
    if (is_leading(*unit) && next && is_trailing(*next)) {
      at += 12;
      continue;
    }
    repaired.replace(at + 2, 4, "fffd");
    at += 6;
  }
  return repaired;
}

}  // namespace

Result<json::object> parse_line(std::string_view line) {
  if (line.size() > kMaxLine) return fail("the line is longer than 16 MiB");
  auto object = parse_json_object(line);
  if (object || line.find("\\u") == std::string_view::npos) return object;
  const auto repaired = replace_lone_surrogates(line);
  return repaired == line ? std::move(object) : parse_json_object(repaired);
}

std::string truncated(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string{text};
  auto end = limit;
  while (end > 0 && is_continuation(text[end])) --end;
  return std::string{text.substr(0, end)};
}

namespace {

std::string_view view_of(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(json::string_view{name.data(), name.size()});
  if (value == nullptr || !value->is_string()) return {};
  return {value->get_string().data(), value->get_string().size()};
}

}  // namespace

std::string short_string(const json::object& object, std::string_view name) {
  return truncated(view_of(object, name), kMaxWord);
}

std::string long_string(const json::object& object, std::string_view name) {
  return truncated(view_of(object, name), kMaxText);
}

bool is_true(const json::object& object, std::string_view name) { return bool_member(object, name).value_or(false); }

std::optional<std::int64_t> count_member(const json::object& object, std::string_view name) {
  const auto count = integer_member(object, name);
  return count && *count >= 0 && *count <= kMaxCount ? count : std::nullopt;
}

std::string content_text(const json::value* content) {
  if (content == nullptr) return {};
  if (content->is_string()) return truncated({content->get_string().data(), content->get_string().size()}, kMaxText);
  std::string all;
  if (content->is_object()) return long_string(content->get_object(), "text");
  if (!content->is_array()) return all;
  for (const auto& block : content->get_array()) {
    const auto part = block.is_object() ? long_string(block.get_object(), "text") : content_text(&block);
    if (part.empty()) continue;
    if (!all.empty()) all += '\n';
    all += part;
    if (all.size() > kMaxText) return truncated(all, kMaxText);
  }
  return all;
}

std::string content_text(const json::object& object, std::string_view name) {
  return content_text(object.if_contains(json::string_view{name.data(), name.size()}));
}

ToolCall make_tool_call(std::string id, std::string name, const json::value* input) {
  ToolCall tool{.id = std::move(id), .name = std::move(name)};
  if (input == nullptr) return tool;
  const auto text = input->is_string() ? std::string{input->get_string()} : json::serialize(*input);
  tool.input = truncated(text, kMaxToolText);
  tool.cut = tool.input.size() < text.size();
  return tool;
}

ToolResult make_tool_result(std::string id, std::string_view text, bool failed) {
  ToolResult result{.id = std::move(id), .text = truncated(text, kMaxToolText), .failed = failed};
  result.cut = result.text.size() < text.size();
  return result;
}

FailureKind classify_failure(std::string_view code, std::int64_t status) {
  const auto has = [&](std::string_view part) { return code.find(part) != std::string_view::npos; };
  if (has("usage_limit") || has("quota") || has("billing")) return FailureKind::UsageLimit;
  if (has("rate_limit") || status == 429) return FailureKind::RateLimit;
  if (has("overloaded") || status == 529 || status == 503) return FailureKind::Overloaded;
  if (has("auth") || has("oauth") || status == 401 || status == 403) return FailureKind::Login;
  return FailureKind::Other;
}

}  // namespace relay::transcripts
