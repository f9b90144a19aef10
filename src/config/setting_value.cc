#include "config/setting_value.h"

#include <charconv>
#include <limits>
#include <optional>

#include "base/format.h"

namespace relay::config {
namespace {

constexpr std::size_t kMaxShownValueBytes = 60;

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc{} || stopped != end) return std::nullopt;
  return number;
}

std::optional<bool> parse_bool(std::string_view text) {
  for (const std::string_view yes : {"1", "true", "yes", "on"})
    if (text == yes) return true;
  for (const std::string_view no : {"0", "false", "no", "off"})
    if (text == no) return false;
  return std::nullopt;
}

bool is_choice(std::string_view choices, std::string_view text) {
  while (!choices.empty()) {
    const auto bar = choices.find('|');
    if (choices.substr(0, bar) == text) return true;
    choices = bar == std::string_view::npos ? std::string_view{} : choices.substr(bar + 1);
  }
  return false;
}

std::string joined_by_or(std::string_view choices) {
  std::string text{choices};
  for (auto bar = text.find('|'); bar != std::string::npos; bar = text.find('|')) text.replace(bar, 1, " or ");
  return text;
}

}  // namespace

std::string allowed_values(const SettingRow& row) {
  switch (row.kind) {
    case SettingKind::Text: return "text";
    case SettingKind::Choice: return joined_by_or(row.choices);
    case SettingKind::Flag: return "true or false";
    case SettingKind::Integer:
      if (row.max == std::numeric_limits<std::int64_t>::max()) return relay::format("a whole number from {}", row.min);
      return relay::format("a whole number from {} to {}", row.min, row.max);
  }
  return "";
}

Failure not_allowed(const SettingRow& row, std::string_view given, std::string_view where) {
  std::string printed{given.substr(0, kMaxShownValueBytes)};
  if (printed.size() < given.size()) printed += "...";
  return fail(Errc::BadValue,
              relay::format("{}: {} cannot be {}; allowed: {}", where, row.name, printed, allowed_values(row)));
}

bool is_allowed(const SettingRow& row, const SettingValue& value) {
  switch (row.kind) {
    case SettingKind::Text: return std::get<std::string>(value).find('\0') == std::string::npos;
    case SettingKind::Choice: return is_choice(row.choices, std::get<std::string>(value));
    case SettingKind::Flag: return true;
    case SettingKind::Integer: {
      const auto number = std::get<std::int64_t>(value);
      return number >= row.min && number <= row.max;
    }
  }
  return false;
}

Result<SettingValue> value_from_text(const SettingRow& row, std::string_view text, std::string_view where) {
  std::optional<SettingValue> value;
  switch (row.kind) {
    case SettingKind::Text:
    case SettingKind::Choice: value = std::string{text}; break;
    case SettingKind::Flag:
      if (const auto flag = parse_bool(text)) value = *flag;
      break;
    case SettingKind::Integer:
      if (const auto number = parse_integer(text)) value = *number;
      break;
  }
  if (!value || !is_allowed(row, *value)) return not_allowed(row, relay::format("\"{}\"", text), where);
  return *std::move(value);
}

}  // namespace relay::config
