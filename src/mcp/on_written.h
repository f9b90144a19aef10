/// Runs when a line has been written to its reader: the messages in it then count as seen.
///
/// Never runs for a line that could not be written.
#pragma once

#include <functional>

namespace relay::mcp {

using OnWritten = std::move_only_function<void()>;

}  // namespace relay::mcp
