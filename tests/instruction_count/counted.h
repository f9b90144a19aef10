/// The only function in which callgrind counts; `run` names it to --toggle-collect.
///
/// Why a separate file: the optimizer must not inline or rename it.
#pragma once

#include "paths.h"

namespace relay::cost {

[[gnu::noinline]] std::uint64_t counted(Workload& work);

}  // namespace relay::cost
