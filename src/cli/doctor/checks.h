/// What `doctor` looks at. Each check is a function from the world to a finding; none changes anything.
#pragma once

#include <vector>

#include "cli/doctor/check_result.h"
#include "cli/framework/context.h"

namespace relay::cli {

std::vector<CheckResult> run_checks(const Context& context);

}  // namespace relay::cli
