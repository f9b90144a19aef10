/// Text that is what it looks like.
///
/// Why: a person or a rule judges what can be seen. A letter that is invisible, turns the writing direction or moves the
///   cursor makes a command look like another one, so text that holds one is approved by nobody but a person.
#pragma once

#include <string_view>

namespace relay::text {

/// UTF-8 without control characters (tabs and line ends too), invisible letters, turns of direction, and spaces other
/// than the usual one.
bool is_visible_text(std::string_view text);

}  // namespace relay::text
