/// A part of an answer of OpenCode's, as entries of a record: what a tool was given, what came of it.
///
/// Any object is taken; what is no call of a tool is none. Texts are cut to the limits of a record. Pure.
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
  std::string printed = {};                            // so far, while it runs
  WallMs began = 0, ended = 0;
};

/// Nothing of a call whose input is still being written.
std::optional<ToolUse> tool_use_in(const json::object& part);

}  // namespace relay::adapters
