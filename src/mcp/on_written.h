/// Told when a line has left us for its reader: what it shows may then be called seen.
///
/// Never told of a line that could not be written.
#pragma once

#include <functional>

namespace relay::mcp {

using OnWritten = std::move_only_function<void()>;

}  // namespace relay::mcp
