/// What this process inherited from its parent, for a child that must get the same.
#pragma once

#include <vector>

#include "pty/command.h"

namespace relay::pty {

/// The signals that were ignored at the first call: `main` calls it before it changes any.
const std::vector<int>& signals_ignored_at_start();

/// The descriptors beyond the standard three that are open now and would survive an exec, in ascending order. Called
/// before we open anything, these are the inherited ones (`<(…)` of a shell, for instance).
std::vector<int> inheritable_descriptors();

/// The streams for which isatty() gives the child the same answer on each standard descriptor as it gives us.
Streams matching_streams();

}  // namespace relay::pty
