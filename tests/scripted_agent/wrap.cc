#include "scripted_agent/wrap.h"

#include <algorithm>

namespace relay::scripted_agent {
namespace {

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

/// Bytes of the first `count` characters.
std::size_t bytes_of(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (starts_character(text[at]) && count-- == 0) break;
    ++at;
  }
  return at;
}

}  // namespace

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::string_view tail(std::string_view text, std::size_t columns) {
  const auto all = width(text);
  return all <= columns ? text : text.substr(bytes_of(text, all - columns));
}

std::vector<std::string> wrap(std::string_view text, std::size_t columns, std::string_view first_prefix,
                              std::string_view next_prefix) {
  std::vector<std::string> lines;
  while (true) {
    const auto line_end = text.find('\n');
    auto line = text.substr(0, line_end);
    do {
      const auto prefix = lines.empty() ? first_prefix : next_prefix;
      const auto room = std::max<std::size_t>(columns > width(prefix) ? columns - width(prefix) : 0, 1);
      auto take = bytes_of(line, room);
      if (take < line.size() && line[take] != ' ')
        if (const auto blank = line.rfind(' ', take); blank != std::string_view::npos && blank > 0) take = blank;
      lines.push_back(std::string{prefix}.append(line.substr(0, take)));
      line.remove_prefix(take);
      if (line.starts_with(' ')) line.remove_prefix(1);
    } while (!line.empty());
    if (line_end == std::string_view::npos) return lines;
    text.remove_prefix(line_end + 1);
  }
}

}  // namespace relay::scripted_agent
