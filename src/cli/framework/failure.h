/// Maps errors to exit codes, in one place for all commands. A usage error is 2, a refusal of the daemon is 5.
#pragma once

#include "base/result.h"
#include "cli/framework/output.h"
#include "protocol/send.h"

namespace relay::cli {

struct ExitReason {
  ExitCode code = ExitCode::Failed;
  std::string_view name = error_code_name(code);
};
ExitReason exit_reason(const Error& error);

ExitCode report_error(const Error& error);
/// Reports a refusal of the daemon, with the next step when the daemon sent none.
ExitCode report_error(const protocol::Nack& nack);

/// Unwraps a Result in a command: an error is reported and ends the command with its exit code.
#define RELAY_CLI_TRY(expression)                                                       \
  __extension__({                                                                       \
    auto relay_cli_result = (expression);                                               \
    if (!relay_cli_result) return ::relay::cli::report_error(relay_cli_result.error()); \
    ::relay::detail::unwrap(std::move(relay_cli_result));                               \
  })

/// The same for arguments: every error is a usage error.
#define RELAY_CLI_USAGE(expression)                                                                         \
  __extension__({                                                                                           \
    auto relay_cli_result = (expression);                                                                   \
    if (!relay_cli_result)                                                                                  \
      return ::relay::cli::report_error(relay_cli_result.error().message(), ::relay::cli::ExitCode::Usage); \
    ::relay::detail::unwrap(std::move(relay_cli_result));                                                   \
  })

}  // namespace relay::cli
