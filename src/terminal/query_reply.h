/// What a terminal would reply. For the time when no person's terminal is attached to do it.
///
/// A plain, honest set: only what this model really does is claimed. The colours are the xterm palette on black.
#pragma once

#include <string>

#include "terminal/query.h"

namespace relay::terminal {

/// The bytes to write to the program; empty when silence is the honest answer (graphics).
std::string reply_to_query(const TerminalQuery& query, Size size);

}  // namespace relay::terminal
