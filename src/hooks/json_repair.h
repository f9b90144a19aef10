/// JSON that only its letters keep from being JSON.
#pragma once

#include <string>
#include <string_view>

namespace relay::hooks {

/// The same text with U+FFFD in place of bytes that are no UTF-8, and of halves of surrogate pairs written as escapes.
/// JavaScript writes such halves when it cut a string in the middle of a letter; a strict reader refuses them.
std::string repair_json(std::string_view text);

}  // namespace relay::hooks
