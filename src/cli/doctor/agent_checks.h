/// The checks of `doctor` for agents: installed versions, profiles, hooks and MCP.
#pragma once

#include <optional>
#include <vector>

#include "cli/doctor/check_result.h"
#include "cli/framework/context.h"

namespace relay::cli {

std::vector<CheckResult> run_agent_checks(const Context& context);

/// Set when hooks of agents started from this shell write to a directory that the running daemon does not read, so that
/// it observes none of these agents.
std::optional<CheckResult> hooks_unobserved(const Context& context);

}  // namespace relay::cli
