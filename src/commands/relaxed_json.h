/// JSON as agents write it by hand or through a shell: raw line ends inside strings, `\!` from a shell's quoting.
#pragma once

#include <string_view>

#include "base/json.h"

namespace relay::commands {

/// Strict JSON first; if that fails, once more with those two slips mended.
Result<json::object> parse_relaxed_object(std::string_view text);

}  // namespace relay::commands
