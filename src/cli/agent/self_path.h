/// Where this very program lies, for those that are to start it again.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::cli {

Result<std::string> self_path();

/// The path that will still be right after an update: `agent-relay` along that PATH, when that is this program.
Result<std::string> program_along_path(std::string_view search);

}  // namespace relay::cli
