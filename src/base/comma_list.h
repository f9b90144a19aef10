/// Lists as users write them in one string: `a, b,c`.
#pragma once

#include <string_view>
#include <vector>

namespace relay {

/// The parts between commas, without surrounding blanks; empty parts are left out. The parts are views into `text`.
inline std::vector<std::string_view> comma_list(std::string_view text) {
  std::vector<std::string_view> parts;
  for (bool more = true; more;) {
    const auto comma = text.find(',');
    auto part = text.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return parts;
}

}  // namespace relay
