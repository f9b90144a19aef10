/// The only function in which callgrind counts; `run` names it to --toggle-collect.
///
/// Why a file of its own: it must stay a function that is called, with this name, whatever the optimizer sees beside
///   it.
#pragma once

#include "paths.h"

namespace relay::cost {

[[gnu::noinline]] std::uint64_t counted(Workload& work);

}  // namespace relay::cost
