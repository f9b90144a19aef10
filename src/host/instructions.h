/// How an agent is told about the relay without a word on its screen: by arguments and variables of its own program.
///
/// The profile knows the least intrusive way; nothing of the person's is overwritten, and where no way is known nothing
/// is done (`agent-relay skill` prints the text for people to use).
#pragma once

#include <string>
#include <string_view>

#include "profiles/profile.h"
#include "pty/command.h"

namespace relay::host {

/// What every agent should know, in markdown.
std::string_view skill_text();

/// Adds what the profile says right behind the program's name. `{text}`, `{quoted}` (as a JSON string) and `{file}` (a
/// file that holds the text) are replaced; without a file what would name it is left out. A variable that is set stays.
void instruct(pty::Command& command, const profiles::Instructions& rules, std::string_view text, std::string_view file);

}  // namespace relay::host
