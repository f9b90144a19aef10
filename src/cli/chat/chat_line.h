/// Lines of a chat: parses typed ones, marks received ones.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace relay::cli {

/// `@Bob hello` → Bob, hello. No name when the line does not start with one.
struct AddressedLine {
  std::string to;
  std::string text;
};
AddressedLine split_address(std::string_view line);
/// Drops leading control characters, such as a Ctrl-L meant for the terminal.
std::string_view without_leading_controls(std::string_view line);

/// `/quit` → quit: a chat command. None for a message, such as one with a path (`/usr/bin is full`).
std::optional<std::string_view> parse_chat_command(std::string_view line);

inline constexpr std::size_t kMarginColumns = 10;
/// Marks the lines after the first, so that no body can imitate another message.
std::string with_margin(std::string_view text);

}  // namespace relay::cli
