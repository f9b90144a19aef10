/// The environment comes in as an argument, so that a test has one of its own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace relay::config {

/// The value of a variable; empty when it is not set. A variable set to nothing counts as not set.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

/// This process's own.
Environment process_environment();

}  // namespace relay::config
