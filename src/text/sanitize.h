/// Text without terminal control sequences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace relay::text {

/// Removes CSI and OSC sequences and stray carriage returns; "cursor right n" becomes n blanks, because programs draw
/// blanks that way. Also removes a CSI that lost its escape at the very start. A real screen needs a terminal model.
std::string strip_control_sequences(std::string_view text);

/// Removes everything that could deceive a terminal, a paste or a reader: control characters and escape sequences;
/// invisible characters become marks (text/invisible.h), unless they are preserved for a comparison; each tab, line end or
/// line separator becomes a blank; broken UTF-8 becomes U+FFFD. The result is one line.
enum class Invisible : std::uint8_t { Show, Keep };
std::string sanitize_line(std::string_view text, Invisible invisible = Invisible::Show);

}  // namespace relay::text
