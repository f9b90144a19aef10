/// An event as a person reads it: `14:03:07  #42  Alice  command.executed  make test (exit 0, 12 s)`.
#pragma once

#include <string>

#include "base/json.h"
#include "cli/framework/context.h"

namespace relay::cli {

/// One line, cut to the terminal if there is one.
std::string event_line(const json::object& event, const Context& context);

/// What happened, without when and whose doing.
std::string event_summary(const json::object& event);

}  // namespace relay::cli
