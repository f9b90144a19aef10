/// The replies of a terminal, for the time while no user's terminal is attached.
///
/// Only features that this model implements are claimed. The colors are the xterm palette on black.
#pragma once

#include <string>

#include "terminal/query.h"

namespace relay::terminal {

/// The bytes to write to the program; empty where a real terminal without the feature is silent (graphics).
std::string reply_to_query(const TerminalQuery& query, Size size);

}  // namespace relay::terminal
