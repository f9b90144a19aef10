/// From a cause to how a command ends by it: the only place that knows, so that the same cause ends `send`, `chat` and
/// every other command alike. What was typed wrongly is 2, what the daemon says no to is 5.
#pragma once

#include "base/result.h"
#include "cli/framework/output.h"
#include "protocol/send.h"

namespace relay::cli {

struct ExitReason {
  ExitCode code = ExitCode::Failed;
  std::string_view word = error_code_name(code);
};
ExitReason exit_reason(const Error& error);

ExitCode report_error(const Error& error);
/// What the daemon refused, with the next step where the daemon names none.
ExitCode report_error(const protocol::Nack& refusal);

/// Runs the body of a command: an error becomes its sentence and its exit code.
#define RELAY_CLI_TRY(expression)                                                       \
  __extension__({                                                                       \
    auto relay_cli_result = (expression);                                               \
    if (!relay_cli_result) return ::relay::cli::report_error(relay_cli_result.error()); \
    ::relay::detail::unwrap(std::move(relay_cli_result));                               \
  })

/// The same for what a person typed: always a usage error.
#define RELAY_CLI_USAGE(expression)                                                                         \
  __extension__({                                                                                           \
    auto relay_cli_result = (expression);                                                                   \
    if (!relay_cli_result)                                                                                  \
      return ::relay::cli::report_error(relay_cli_result.error().message(), ::relay::cli::ExitCode::Usage); \
    ::relay::detail::unwrap(std::move(relay_cli_result));                                                   \
  })

}  // namespace relay::cli
