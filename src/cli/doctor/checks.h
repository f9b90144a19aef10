/// The checks of `doctor`. Each one reads the state of the system and returns results; none changes anything.
#pragma once

#include <vector>

#include "cli/doctor/check_result.h"
#include "cli/framework/context.h"

namespace relay::cli {

std::vector<CheckResult> run_checks(const Context& context);

}  // namespace relay::cli
