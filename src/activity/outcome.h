/// Parses the outcome of a command from the result text of its model.
///
///     Claude Code   Exit code 2\n...                                              (only of a failed one)
///     Codex         Exit code: 0\nWall time: 0.1 seconds\nOutput:\n...            or JSON with output and metadata
///     Gemini CLI    <untrusted_context>\nOutput: ...\nExit Code: 2\n...           (no code: it was 0)
///
/// Accepts any text; in another format all of it is the command's output. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace relay::activity {

struct Outcome {
  std::optional<std::int64_t> exit_code = {};
  std::string output = {};
};

Outcome parse_outcome(std::string_view result);

}  // namespace relay::activity
