/// The tools and resources as clients see them: names, words and schemas, in an order that never changes.
///
/// Why a table: a model chooses by these words alone, and clients cut descriptions at 2 KB and hide what they do not need,
///   so every name and sentence must speak for itself. What the tools do is desk.h.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"

namespace relay::mcp {

inline constexpr std::string_view kInboxUri = "relay://inbox";
inline constexpr std::string_view kAgentsUri = "relay://agents";

struct Tool {
  std::string_view name;
  std::string_view title;
  std::string_view description;
  std::string_view properties;  // of the input schema, as JSON
  std::string_view required;    // a JSON array
  bool read_only = false;
  bool idempotent = false;
  bool destructive = false;
  bool spawns = false;  // only with --allow-spawn
};

std::span<const Tool> tool_table();
const Tool* find_tool(std::string_view name);

enum class Spawning { Forbidden, Allowed };
/// As `tools/list` and `resources/list` answer.
json::array tools_for_clients(Spawning spawning);
json::array resources_for_clients();

/// What the model is told about us when it begins; under 2 KB.
std::string instructions_for(std::string_view name, Spawning spawning);

}  // namespace relay::mcp
