/// How an agent learns of the relay at its start, without text on its screen: by arguments and variables of its
///   program.
///
/// The profile names the least intrusive ones. Nothing of the user's is overwritten, and where the profile names none
/// nothing is done (`agent-relay skill` prints the text for the user).
#pragma once

#include <string>
#include <string_view>

#include "profiles/profile.h"
#include "pty/command.h"

namespace relay::host {

/// What every agent should know, in markdown.
std::string_view skill_text();

/// Adds what the profile names right behind the program. `{text}`, `{quoted}` (as a JSON string) and `{file}` (a
/// file that holds the text) are replaced; without a file what would name it is left out. A variable that is set stays.
void instruct(pty::Command& command, const profiles::Instructions& rules, std::string_view text, std::string_view file);

}  // namespace relay::host
