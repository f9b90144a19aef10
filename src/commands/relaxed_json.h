/// JSON as agents write it by hand or through a shell: raw line ends inside strings, `\!` from a shell's quoting.
#pragma once

#include <string_view>

#include "base/json.h"

namespace relay::commands {

/// Parses strict JSON first; on failure once more with those two mistakes repaired.
Result<json::object> parse_relaxed_object(std::string_view text);

}  // namespace relay::commands
