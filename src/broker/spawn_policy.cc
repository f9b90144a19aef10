#include "broker/spawn_policy.h"

#include <algorithm>

#include "base/format.h"

namespace relay::broker {
namespace {

constexpr std::string_view kPlainLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./_-";

bool is_beneath_project(std::string_view directory) {
  return !directory.starts_with('/') && directory.find("..") == std::string_view::npos;
}

std::string names_of(const SpawnPolicy& policy) {
  std::string names;
  for (const auto& name : policy.programs) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace

SpawnByAgents spawn_by_agents_named(std::string_view name) {
  if (name == "ask") return SpawnByAgents::Ask;
  if (name == "profiles") return SpawnByAgents::Profiles;
  return SpawnByAgents::Off;
}

std::optional<std::string> refusal_of_spawn(const SpawnPolicy& policy, const protocol::SpawnRequest& wanted) {
  if (policy.by_agents == SpawnByAgents::Off)
    return "agents may not start other agents here; ask your user to run `agent-relay spawn`, or to allow it with "
           "[spawn] by_agents in config.toml";
  if (!policy.programs.contains(wanted.words.front()))
    return format("agents may start only programs that have a profile, by their plain names ({}); choose one of them",
                  names_of(policy));
  if (policy.by_agents == SpawnByAgents::Ask) return std::nullopt;
  if (wanted.words.size() > 1)
    return format(
        "agents may not start {} with arguments here; leave them out, or ask your user to set [spawn] "
        "by_agents = \"ask\"",
        wanted.words.front());
  if (!is_beneath_project(wanted.directory))
    return "agents may start others only inside the project; give a relative directory, or ask your user to set "
           "[spawn] by_agents = \"ask\"";
  return std::nullopt;
}

std::string command_line_of(const protocol::SpawnRequest& wanted) {
  std::string line;
  for (const auto& word : wanted.words) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && word.find_first_not_of(kPlainLetters) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char letter : word) line += letter == '\'' ? std::string{R"('\'')"} : std::string{letter};
    line += '\'';
  }
  return line;
}

}  // namespace relay::broker
