/// What this process got from whoever started it, for a child that is to get the same.
#pragma once

#include <vector>

#include "pty/command.h"

namespace relay::pty {

/// The signals that were ignored when this was first called: `main` does so before it changes any.
const std::vector<int>& signals_ignored_at_start();

/// The descriptors beyond the standard three that are open now and would survive an exec, in ascending order. Asked before
/// anything of ours is opened, these are the ones that were handed to us (`<(…)` of a shell, for instance).
std::vector<int> inheritable_descriptors();

/// What a child needs so that isatty() answers for each of its standard descriptors as it does for ours.
Streams streams_like_ours();

}  // namespace relay::pty
