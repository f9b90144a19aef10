/// The daemon and this project's workspace, brought up for a command that needs them.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "cli/framework/context.h"
#include "config/settings.h"

namespace relay::cli {

/// Where the settings want the workspace to listen too; absolute, because the daemon leaves this directory.
std::string absolute_socket(const config::Settings& settings);

/// Tries again for some seconds while one daemon answers no more and holds its place still, or holds it already and does
/// not answer yet.
Result<void> while_between_daemons(const std::function<Result<void>()>& attempt);

/// Says on stderr that nothing is written into the directory of this project, where that is so (config/trust.h).
void remark_common(const Context& context);

/// Afterwards this project's workspace can be reached: opened in the daemon that runs, or in one that is started and of
/// which a person at a terminal is told. Harmless when it is open already.
Result<void> ensure_workspace(const Context& context);

}  // namespace relay::cli
