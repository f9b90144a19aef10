/// What the agents' tools are for: one table for all of them, by the names their records use.
///
/// A tool we do not know is Other, and its use is told without saying more. Names were taken from the records of real
/// sessions and from what the programs declare to their models (docs/agents.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"

namespace relay::activity {

enum class ToolCategory : std::uint8_t {
  Other,
  Shell,
  Script,  // a program that calls other tools, which the record tells on their own
  Read,
  Write,
  Edit,
  Patch,  // several files at once, as one text
  Search,
  Plan,
};

struct ToolKind {
  std::string_view name;
  ToolCategory use = ToolCategory::Other;
  std::string_view subject = {};             // the member of its input that says on what: a command, a path, a pattern
  std::string_view before = {}, after = {};  // of an edit: the members with the old and the new text
};

const ToolKind& kind_of(std::string_view tool);

/// On what: the command, the path. `input` as the agent wrote it, JSON or not; empty when it does not say.
std::string subject_of(const ToolKind& kind, std::string_view input);
std::string subject_of(const ToolKind& kind, const json::object& input);

}  // namespace relay::activity
