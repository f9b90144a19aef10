/// This project's workspace, as a command reaches it, and how its errors become exit codes.
#pragma once

#include <string>

#include "cli/connection.h"
#include "cli/context.h"
#include "cli/exit_code.h"

namespace relay::cli {

/// Connected, not yet introduced: for one-shot sends. Says whether the daemon or only the workspace is missing.
Result<Connection> reach_workspace(const Context& context);
/// Connected and introduced: for questions.
Result<Connection> join_workspace(const Context& context);
/// The daemon's own socket.
Result<Connection> reach_daemon(const Context& context);

ExitCode exit_code_of(const Error& error);
ExitCode complain(const Error& error);

/// Runs the body of a command: an error becomes its sentence and its exit code.
#define RELAY_CLI_TRY(expression)                                                   \
  __extension__({                                                                   \
    auto relay_cli_result = (expression);                                           \
    if (!relay_cli_result) return ::relay::cli::complain(relay_cli_result.error()); \
    ::relay::detail::unwrap(std::move(relay_cli_result));                           \
  })

/// The same for what a person typed: always a usage error.
#define RELAY_CLI_USAGE(expression)                                                                     \
  __extension__({                                                                                       \
    auto relay_cli_result = (expression);                                                               \
    if (!relay_cli_result)                                                                              \
      return ::relay::cli::complain(relay_cli_result.error().message(), ::relay::cli::ExitCode::Usage); \
    ::relay::detail::unwrap(std::move(relay_cli_result));                                               \
  })

}  // namespace relay::cli
