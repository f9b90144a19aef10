/// Hooks put into a settings file and taken out of it, with every other byte left as it is.
///
/// Always so: what is added stands behind what was there, written as the file is written (its indentation, its line
///   ends, or on one line); taking it out again gives the bytes from before, except that an object or array that was
///   there and empty is gone. Pure functions on text.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "hooks/agent.h"

namespace relay::hooks {

/// `hooks` is {Event: [group]}; each group is appended to what that event has. Text of blanks counts as none.
Result<std::string> with_hooks(std::string_view text, const json::object& hooks);

/// Without our handlers, and without the groups, events and "hooks" that held nothing else.
Result<std::string> without_hooks(std::string_view text, AgentCli agent);

}  // namespace relay::hooks
