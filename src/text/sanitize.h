/// Text without what terminals act on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace relay::text {

/// CSI and OSC sequences and stray carriage returns out; "cursor right n" becomes n blanks, because programs draw blanks
/// that way. Also CSI that lost its escape at the very start. For reading: a real screen needs a terminal model.
std::string strip_control_sequences(std::string_view text);

/// Nothing left that a terminal, a paste or an eye could be tricked with: no control characters, no escape sequences;
/// invisible characters are shown as marks (text/invisible.h) unless they are to be kept for a comparison; white space
/// becomes single blanks' worth of space; broken UTF-8 becomes U+FFFD. One line.
enum class Invisible : std::uint8_t { Show, Keep };
std::string sanitize_line(std::string_view text, Invisible invisible = Invisible::Show);

}  // namespace relay::text
