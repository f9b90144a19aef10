/// What `doctor` looks at. Each check is a function from the world to a finding; none changes anything.
#pragma once

#include <vector>

#include "cli/context.h"
#include "cli/finding.h"

namespace relay::cli {

std::vector<CheckResult> run_checks(const Context& context);

}  // namespace relay::cli
