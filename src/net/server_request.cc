#include "net/server_request.h"

#include <algorithm>

namespace relay::net {
namespace {

constexpr char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

bool equals_ignore_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lowered(x) == lowered(y); });
}

std::optional<std::string_view> HttpHeaders::find(std::string_view name) const {
  for (const auto& field : fields_)
    if (equals_ignore_case(field.name, name)) return field.value;
  return std::nullopt;
}

bool HttpHeaders::lists(std::string_view name, std::string_view word) const {
  for (const auto& field : fields_) {
    if (!equals_ignore_case(field.name, name)) continue;
    for (std::string_view rest = field.value; !rest.empty();) {
      const auto comma = std::min(rest.find(','), rest.size());
      if (equals_ignore_case(trimmed(rest.substr(0, comma)), word)) return true;
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return false;
}

std::size_t HttpHeaders::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(
      fields_.begin(), fields_.end(), [&](const HttpHeader& field) { return equals_ignore_case(field.name, name); }));
}

}  // namespace relay::net
