/// Where this very program lies, for those that are to start it again.
#pragma once

#include <string>

#include "base/result.h"

namespace relay::cli {

Result<std::string> own_program();

}  // namespace relay::cli
