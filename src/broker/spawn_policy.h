/// Which agents other agents may start. It does not limit the user's own SPAWN.
///
/// Why: an agent may follow the text of a web page. A SPAWN by an agent runs a program outside that agent's own
///   permissions, so it is off unless the user allows it (`[spawn] by_agents` in config.toml).
/// Invariants: only a program that has a profile is started, by its plain name; without the user's approval it gets no
///   arguments and no model, because arguments of an agent CLI can run other programs. Whether its directory is inside
///   the project is checked where it is opened (HostSpec::inside_project).
/// Pure. Threading: immutable; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "protocol/worker_requests.h"

namespace relay::broker {

enum class SpawnByAgents : std::uint8_t {
  Off,
  Ask,       // each is a permission that the user approves or denies
  Profiles,  // a program with a profile is started without approval
};
/// `off`, `ask`, `profiles`; anything else is Off.
SpawnByAgents parse_spawn_by_agents(std::string_view name);
std::string_view name_of(SpawnByAgents mode);

struct SpawnPolicy {
  SpawnByAgents by_agents = SpawnByAgents::Off;
  std::set<std::string, std::less<>> programs = {};  // that have a profile
};

/// Why an agent may not start this, and what to do instead: one sentence for the agent. None: it may, or the user
///   decides.
std::optional<std::string> refusal_of_spawn(const SpawnPolicy& policy, const protocol::SpawnRequest& wanted);

/// The program and its arguments as one line: an argument with blanks or quotes is quoted.
std::string command_line_of(const protocol::SpawnRequest& wanted);

}  // namespace relay::broker
