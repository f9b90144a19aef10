/// Names as a person types them: checked before anything is sent, and helped along when nobody has them.
#pragma once

#include <string>
#include <string_view>

#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/wire/daemon_connection.h"

namespace relay::cli {

/// Who speaks: what `option` says, else who the person at this shell is. The error is a usage error.
Result<std::string> sender_name(const Invocation& invocation, std::string_view option, const Context& context);

/// Somebody, everybody or a channel. The error is a usage error.
Result<void> check_recipient(std::string_view name);

/// Empty when somebody has that name, else a sentence with the nearest ones.
Result<std::string> unknown_agent_error(DaemonConnection& connection, const std::string& name);

}  // namespace relay::cli
