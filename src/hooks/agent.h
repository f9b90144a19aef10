/// The agents whose hooks are supported, by the names users type.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace relay::hooks {

enum class AgentCli : std::uint8_t { Claude, Codex, Gemini };

std::string_view name_of(AgentCli agent);
std::optional<AgentCli> parse_agent_cli(std::string_view name);

}  // namespace relay::hooks
