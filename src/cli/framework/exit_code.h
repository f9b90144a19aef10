/// The exit codes of commands. Documented in the help and docs/cli.md; scripts rely on them.
#pragma once

#include <string_view>

namespace relay::cli {

enum class ExitCode : int { Ok = 0, Failed = 1, Usage = 2, NoDaemon = 3, TimedOut = 4, Refused = 5 };

/// Its name in JSON: `NO_DAEMON`.
constexpr std::string_view error_code_name(ExitCode code) {
  switch (code) {
    case ExitCode::Ok: return "OK";
    case ExitCode::Failed: return "FAILED";
    case ExitCode::Usage: return "USAGE";
    case ExitCode::NoDaemon: return "NO_DAEMON";
    case ExitCode::TimedOut: return "TIMED_OUT";
    case ExitCode::Refused: return "REFUSED";
  }
  return "";
}

}  // namespace relay::cli
