/// Cases from testdata/, and commands as JSON to compare with them.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "commands/command.h"

namespace relay::commands::testing {

/// The file must exist and be JSON; a test that cannot read its cases stops.
json::value load_cases(const std::string& file);

/// A command with the members the cases name: to, kind, body, thread?, threadProject?, project?, data?, meta?
json::object as_json(const SendCommand& command);

/// The send commands of the list, as JSON.
json::array sends_as_json(const std::vector<Command>& commands);

}  // namespace relay::commands::testing
