/// One code point at a time, for the few places that must look at letters rather than bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace relay::protocol {

inline constexpr char32_t kNotUtf8 = 0xFFFFFFFF;

/// The code point at `position`, which moves behind it. kNotUtf8 where the bytes are not well formed; `position` then
/// moves by one byte. `position` must be inside `text`.
char32_t next_code_point(std::string_view text, std::size_t& position);

/// Writes the UTF-8 of a code point (at most U+10FFFF) to `out`; returns how many bytes, at most 4.
std::size_t write_code_point(char* out, char32_t point);

/// The longest beginning of well-formed `text` that fits `max_bytes` and splits no letter.
std::string_view cut_at_letter(std::string_view text, std::size_t max_bytes);

/// C0 and C1 controls and DEL: what a terminal would obey instead of print.
bool has_control_characters(std::string_view text);

}  // namespace relay::protocol
