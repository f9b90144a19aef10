/// Names from the command line: checked before anything is sent, with suggestions for unknown ones.
#pragma once

#include <string>
#include <string_view>

#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/wire/daemon_connection.h"

namespace relay::cli {

/// The sender: the value of `option`, else the user's own name. The error is a usage error.
Result<std::string> sender_name(const Invocation& invocation, std::string_view option, const Context& context);

/// Checks the name of an agent, `*` or a channel. The error is a usage error.
Result<void> check_recipient(std::string_view name);

/// Empty when an agent has that name, else an error message with the nearest names.
Result<std::string> unknown_agent_error(DaemonConnection& connection, const std::string& name);

}  // namespace relay::cli
