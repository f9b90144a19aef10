/// The part of `doctor` that looks at agents: which are installed, whether their profiles fit them, hooks and MCP.
#pragma once

#include <optional>
#include <vector>

#include "cli/doctor/check_result.h"
#include "cli/framework/context.h"

namespace relay::cli {

std::vector<CheckResult> examine_agents(const Context& context);

/// Hooks of agents that are started from here write where the running daemon does not look, so it observes none of them.
std::optional<CheckResult> hooks_unobserved(const Context& context);

}  // namespace relay::cli
