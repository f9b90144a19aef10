/// Cases from testdata/, and utterances as JSON to compare with them.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "commands/command.h"

namespace relay::commands::testing {

/// The file must be there and be JSON; a test that cannot read its cases stops.
json::value load_cases(const std::string& file);

/// A command with the members the cases name: to, kind, body, thread?, threadProject?, project?, data?, meta?
json::object as_json(const SendCommand& command);

/// The commands among what was heard.
json::array commands_of(const std::vector<Command>& heard);

}  // namespace relay::commands::testing
