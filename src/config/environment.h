/// The environment is passed as an argument, so that tests can supply their own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace relay::config {

/// The value of a variable; empty when it is unset. A variable set to the empty string counts as unset.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

/// The environment of this process.
Environment process_environment();

}  // namespace relay::config
