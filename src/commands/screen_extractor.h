/// The grammar applied to rows of a screen: the last resort, for agents without a readable transcript.
///
/// The caller selects the rows of the agent's own text after its turn has ended. Agents do not draw code
/// fences, so an example looks like a command here; therefore transcripts have priority.
#pragma once

#include <span>
#include <vector>

#include "commands/command.h"
#include "commands/grammar_options.h"
#include "commands/unwrap.h"

namespace relay::commands {

/// Locations count rows: `line` is the row's number from 1, `offset` the number of rows before it.
std::vector<Command> extract_from_screen(std::span<const ScreenLine> rows, GrammarOptions options = {});

}  // namespace relay::commands
