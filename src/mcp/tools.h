/// The tools and resources as clients see them: names, descriptions and schemas, in a fixed order.
///
/// Why a table: a model chooses only by these texts, and clients cut descriptions at 2 KB and drop parts that they do
///   not need, so every text must be complete. relay_tools.h executes the tools.
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
/// As in the results of `tools/list` and `resources/list`.
json::array tools_for_clients(Spawning spawning);
json::array resources_for_clients();

/// The server instructions for the model; under 2 KB.
std::string instructions_for(std::string_view name, Spawning spawning);

}  // namespace relay::mcp
