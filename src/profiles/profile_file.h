/// Reads profiles from TOML. Errors name line and column.
#pragma once

#include <string_view>

#include "base/result.h"
#include "profiles/profile.h"

namespace relay::profiles {

Result<Profile> read_profile(std::string_view toml, std::string_view path);

}  // namespace relay::profiles
