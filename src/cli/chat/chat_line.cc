#include "cli/chat/chat_line.h"

#include <algorithm>
#include <cctype>

namespace relay::cli {

std::string_view without_leading_controls(std::string_view line) {
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  while (!line.empty() && is_control(static_cast<unsigned char>(line.front()))) line.remove_prefix(1);
  return line;
}

AddressedLine split_address(std::string_view line) {
  if (!line.starts_with('@')) return {"", std::string{line}};
  const auto blank = line.find_first_of(" \t\n");
  const auto name = line.substr(1, blank == std::string_view::npos ? blank : blank - 1);
  const auto text = blank == std::string_view::npos ? std::string_view{} : line.substr(blank + 1);
  return {std::string{name}, std::string{text}};
}

std::optional<std::string_view> parse_chat_command(std::string_view line) {
  if (!line.starts_with('/')) return std::nullopt;
  const auto word = line.substr(1, line.find(' ') == std::string_view::npos ? line.npos : line.find(' ') - 1);
  const bool is_word = std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
  return is_word && !word.empty() ? std::optional{word} : std::nullopt;
}

std::string with_margin(std::string_view text) {
  std::string marked;
  for (const char c : text) {
    marked += c;
    if (c == '\n') marked += std::string(kMarginColumns, ' ') + "| ";
  }
  return marked;
}

}  // namespace relay::cli
