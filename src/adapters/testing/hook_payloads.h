/// Payloads that real agents sent to their hooks (src/hooks/testdata), as events.
#pragma once

#include <fstream>
#include <string>

#include "base/json.h"
#include "hooks/event.h"

namespace relay::adapters::testing {

/// `name`: agent and file, as in `claude/PermissionRequest-Bash`.
inline hooks::HookEvent hook_event(const std::string& name) {
  std::ifstream file{std::string{RELAY_HOOKS_TESTDATA} + "/" + name + ".json"};
  const auto capture = parse_json_object(std::string{std::istreambuf_iterator<char>{file}, {}});
  RELAY_ASSERT(capture.has_value());
  const auto agent = hooks::parse_agent_cli(name.substr(0, name.find('/')));
  RELAY_ASSERT(agent.has_value());
  auto event = hooks::parse_event(*agent, json::serialize(*capture->if_contains("payload")));
  RELAY_ASSERT(event.has_value());
  return *std::move(event);
}

}  // namespace relay::adapters::testing
