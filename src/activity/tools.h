/// Classifies the tools of all agents: one table, by the names in their transcripts.
///
/// An unknown tool is Other and gets only a generic event. Names were taken from transcripts of real
/// sessions and from the tool declarations of the programs (docs/agents.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"

namespace relay::activity {

enum class ToolCategory : std::uint8_t {
  Other,
  Shell,
  Script,  // a program that calls other tools, which the transcript records separately
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
  std::string_view subject = {};             // the input member with the subject: a command, a path, a pattern
  std::string_view before = {}, after = {};  // of an edit: the members with the old and the new text
};

const ToolKind& kind_of(std::string_view tool);

/// The subject of a call: the command, the path. `input` is as recorded, JSON or not; empty without a subject.
std::string subject_of(const ToolKind& kind, std::string_view input);
std::string subject_of(const ToolKind& kind, const json::object& input);

}  // namespace relay::activity
