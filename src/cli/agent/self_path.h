/// The path of this program, for starting it again.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::cli {

Result<std::string> self_path();

/// The path that stays valid after an update: `agent-relay` in the search path, when that is this program.
Result<std::string> self_path_on(std::string_view search);

}  // namespace relay::cli
