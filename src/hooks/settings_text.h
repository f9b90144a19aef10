/// Adds hooks to a settings file and removes them, with every other byte unchanged.
///
/// Invariants: added text follows the existing text, in the formatting of the file (its indentation, its line ends, or
///   on one line). Removing it restores the original bytes, except that an object or array that was present and empty
///   is removed. Pure functions on text.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "hooks/agent.h"

namespace relay::hooks {

/// `hooks` is {Event: [group]}; each group is appended to what that event has. Text of blanks counts as none.
Result<std::string> with_hooks(std::string_view text, const json::object& hooks);

/// Without the relay's handlers, and without the groups, events and "hooks" that contained nothing else.
Result<std::string> without_hooks(std::string_view text, AgentCli agent);

}  // namespace relay::hooks
