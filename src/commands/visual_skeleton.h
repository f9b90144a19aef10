/// The visible form of a text, for recognizing disguised words.
#pragma once

#include <string>
#include <string_view>

namespace relay::commands {

/// Invisible characters are dropped; blanks of any width become one space; characters that look like Latin ones become
/// those: full width, mathematical, circled, small capitals, and the Greek and Cyrillic ones that occur in `Relay
/// message from`. Everything else is unchanged. Only for comparison; the displayed text is always the original.
std::string visual_skeleton(std::string_view text);

}  // namespace relay::commands
