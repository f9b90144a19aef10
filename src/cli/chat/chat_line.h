/// A line of a chat: what is typed, taken apart, and what is shown, kept apart from what others say.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace relay::cli {

/// `@Bob hello` → Bob, hello. No name when the line does not begin with one.
struct AddressedLine {
  std::string to;
  std::string text;
};
AddressedLine split_address(std::string_view line);
/// A Ctrl-L meant for the terminal is no part of what is said.
std::string_view without_leading_controls(std::string_view line);

/// `/quit` → quit: a line for the chat itself. None for what is to be said, such as a path (`/usr/bin is full`).
std::optional<std::string_view> slash_word(std::string_view line);

inline constexpr std::size_t kMarginColumns = 10;
/// Lines after the first carry a mark, so that no body can pass for somebody else's line.
std::string with_margin(std::string_view text);

}  // namespace relay::cli
