#include "broker/spawn_policy.h"

#include <algorithm>

#include "base/format.h"

namespace relay::broker {
namespace {

constexpr std::string_view kPlainCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./_-";

std::string quoted(std::string_view word) {
  if (!word.empty() && word.find_first_not_of(kPlainCharacters) == std::string_view::npos) return std::string{word};
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string{R"('\'')"} : std::string{c};
  return text + '\'';
}

std::string names_of(const SpawnPolicy& policy) {
  std::string names;
  for (const auto& name : policy.programs) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace

SpawnByAgents parse_spawn_by_agents(std::string_view name) {
  if (name == "ask") return SpawnByAgents::Ask;
  if (name == "profiles") return SpawnByAgents::Profiles;
  return SpawnByAgents::Off;
}

std::string_view name_of(SpawnByAgents mode) {
  switch (mode) {
    case SpawnByAgents::Off: return "off";
    case SpawnByAgents::Ask: return "ask";
    case SpawnByAgents::Profiles: return "profiles";
  }
  return "";
}

std::optional<std::string> refusal_of_spawn(const SpawnPolicy& policy, const protocol::SpawnRequest& wanted) {
  if (policy.by_agents == SpawnByAgents::Off)
    return "agents may not start other agents here; ask your user to run `agent-relay spawn`, or to allow it with "
           "[spawn] by_agents in config.toml";
  if (!policy.programs.contains(wanted.argv.front()))
    return format("agents may start only programs that have a profile, by their plain names ({}); choose one of them",
                  names_of(policy));
  if (policy.by_agents == SpawnByAgents::Ask) return std::nullopt;
  if (wanted.argv.size() > 1)
    return format(
        "agents may not start {} with arguments here; leave them out, or ask your user to set [spawn] "
        "by_agents = \"ask\"",
        wanted.argv.front());
  if (!wanted.model.empty())
    return format(
        "agents may not choose the model of {} here; leave it out, or ask your user to set [spawn] by_agents = \"ask\"",
        wanted.argv.front());
  return std::nullopt;
}

std::string command_line_of(const protocol::SpawnRequest& wanted) {
  std::string line;
  for (const auto& word : wanted.argv) line += (line.empty() ? "" : " ") + quoted(word);
  return wanted.model.empty() ? line : format("{} with the model {}", line, quoted(wanted.model));
}

}  // namespace relay::broker
