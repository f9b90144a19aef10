#include "hooks/agent.h"

namespace relay::hooks {

std::string_view name_of(Agent agent) {
  switch (agent) {
    case Agent::Claude: return "claude";
    case Agent::Codex: return "codex";
    case Agent::Gemini: return "gemini";
  }
  return "";
}

std::optional<Agent> agent_named(std::string_view name) {
  for (const auto agent : {Agent::Claude, Agent::Codex, Agent::Gemini}) {
    if (name == name_of(agent)) return agent;
  }
  return std::nullopt;
}

}  // namespace relay::hooks
