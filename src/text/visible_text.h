/// Text without hidden characters.
///
/// Why: a user or a rule judges what is visible. A character that is invisible, reverses the direction or moves the
///   cursor makes a command look like another one, so only the user may approve text that contains one.
#pragma once

#include <string_view>

namespace relay::text {

/// UTF-8 without control characters (tabs and line ends included), invisible characters, bidirectional controls, and
/// spaces other than U+0020.
bool is_visible_text(std::string_view text);

}  // namespace relay::text
