/// How a text looks to an eye, for recognising words however they are disguised.
#pragma once

#include <string>
#include <string_view>

namespace relay::commands {

/// What nobody sees is gone; blanks of any width are one space; letters that look like Latin ones are these: full
/// width, mathematical, in circles, small capitals, and those of Greek and Cyrillic that are in `Relay message from`.
/// Everything else stands as it is. Only to compare: what is shown to anybody is the text itself.
std::string visual_skeleton(std::string_view text);

}  // namespace relay::commands
