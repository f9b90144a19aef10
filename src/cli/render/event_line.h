/// An event as text: `14:03:07  #42  Alice  command.executed  make test (exit 0, 12 s)`.
#pragma once

#include <string>

#include "base/json.h"
#include "cli/framework/context.h"

namespace relay::cli {

/// One line, truncated to the terminal.
std::string event_line(const json::object& event, const Context& context);

/// The event without time and agent.
std::string event_summary(const json::object& event);

}  // namespace relay::cli
