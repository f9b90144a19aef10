/// The part of `doctor` that looks at agents: which are installed, whether their profiles fit them, hooks and MCP.
#pragma once

#include <vector>

#include "cli/context.h"
#include "cli/finding.h"

namespace relay::cli {

std::vector<Finding> examine_agents(const Context& context);

}  // namespace relay::cli
