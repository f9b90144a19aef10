#include "hooks/agent.h"

namespace relay::hooks {

std::string_view name_of(AgentCli agent) {
  switch (agent) {
    case AgentCli::Claude: return "claude";
    case AgentCli::Codex: return "codex";
    case AgentCli::Gemini: return "gemini";
  }
  return "";
}

std::optional<AgentCli> parse_agent_cli(std::string_view name) {
  for (const auto agent : {AgentCli::Claude, AgentCli::Codex, AgentCli::Gemini}) {
    if (name == name_of(agent)) return agent;
  }
  return std::nullopt;
}

}  // namespace relay::hooks
