/// Gives an agent the relay's instructions at its start, by arguments and environment variables of its program and
/// without text on its screen.
///
/// The profile names the arguments and variables. Settings of the user are not overwritten. Without such rules nothing
/// is added; `agent-relay skill` prints the text.
#pragma once

#include <string>
#include <string_view>

#include "profiles/profile.h"
#include "pty/command.h"

namespace relay::host {

/// The instructions, in markdown.
std::string_view skill_text();

/// Adds the arguments directly after the program, and the variables. `{text}`, `{quoted}` (a JSON string) and `{file}`
/// (a file that holds the text) are replaced; without a file a variable that needs it is left out. Variables that are
/// set stay.
void instruct(pty::Command& command, const profiles::Instructions& rules, std::string_view text, std::string_view file);

}  // namespace relay::host
