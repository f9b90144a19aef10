/// How a command ends, as its exit code. Documented in help and docs/cli.md; scripts rely on it.
#pragma once

namespace relay::cli {

enum class ExitCode : int { Yes = 0, No = 1, Usage = 2, NoDaemon = 3, TimedOut = 4, Refused = 5 };

}  // namespace relay::cli
