/// Starts the daemon and opens this project's workspace for a command that needs them.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "cli/framework/context.h"
#include "config/settings.h"

namespace relay::cli {

/// The additional socket of the workspace, from the settings; absolute, because the daemon changes its directory.
std::string absolute_socket(const config::Settings& settings);

/// Retries `attempt` for some seconds while a stopping daemon still holds its lock, or a starting one does not respond yet.
Result<void> retry_between_daemons(const std::function<Result<void>()>& attempt);

/// Prints a notice when the project is a system directory, into which nothing is written (config/trust.h).
void print_system_directory_notice(const Context& context);

/// Opens this project's workspace in the running daemon, or in one that it starts; on a terminal it prints a notice about
/// the start. Harmless when the workspace is open already.
Result<void> ensure_workspace(const Context& context);

}  // namespace relay::cli
