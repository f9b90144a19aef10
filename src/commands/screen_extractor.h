/// The grammar over rows of a screen: the last resort, for agents that keep no record we can read.
///
/// Somebody else has decided which rows are the agent's own words and that its turn has ended. Code fences are not
/// drawn by agents, so an example looks like a command here; that is why records come first.
#pragma once

#include <span>
#include <vector>

#include "commands/command.h"
#include "commands/grammar_options.h"
#include "commands/unwrap.h"

namespace relay::commands {

/// Places count rows: `line` is the row's number from 1, `offset` the rows before it.
std::vector<Command> extract_from_screen(std::span<const ScreenLine> rows, GrammarOptions options = {});

}  // namespace relay::commands
