/// A tool call in a message of OpenCode, as transcript entries: its input, output and effects.
///
/// Any object is accepted. Texts are truncated to the limits of transcript entries. Pure.
#pragma once

#include <optional>

#include "base/clock.h"
#include "base/json.h"
#include "transcripts/entry.h"

namespace relay::adapters {

struct ToolUse {
  transcripts::ToolCall tool = {};
  std::optional<transcripts::CommandRun> command = {};
  std::optional<transcripts::FileChange> change = {};
  std::optional<transcripts::ToolResult> result = {};  // none: it runs
  std::string output = {};                             // so far, while it runs
  WallMs started_at = 0, ended_at = 0;
};

/// None for other parts, and for a call whose input is still being written.
std::optional<ToolUse> parse_tool_use(const json::object& part);

}  // namespace relay::adapters
