/// Repairs JSON whose only faults are malformed characters.
#pragma once

#include <string>
#include <string_view>

namespace relay::hooks {

/// The text with U+FFFD in place of malformed UTF-8 and of halves of surrogate pairs written as escapes. JavaScript
/// writes such halves when it cuts a string inside a character; a strict parser refuses them.
std::string repair_json(std::string_view text);

}  // namespace relay::hooks
