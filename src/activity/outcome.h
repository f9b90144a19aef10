/// How a command ended, as far as the text says that its model was given.
///
///     Claude Code   Exit code 2\n...                                              (only of one that failed)
///     Codex         Exit code: 0\nWall time: 0.1 seconds\nOutput:\n...            or JSON with output and metadata
///     Gemini CLI    <untrusted_context>\nOutput: ...\nExit Code: 2\n...           (no code: it was 0)
///
/// Any text is taken; where it is in none of these forms, all of it is what the command printed. Pure.
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

Outcome outcome_in(std::string_view result);

}  // namespace relay::activity
