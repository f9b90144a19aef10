/// Agents that the daemon runs for others, as values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"

namespace relay::broker {

/// An agent to run in its own terminal.
struct HostSpec {
  std::string name;
  std::vector<std::string> argv;  // the program and its arguments
  std::string directory;          // its working directory; empty: the project's root
  bool inside_project = false;    // a directory elsewhere, or reached through a link, is refused
  std::string spawner, team, model, task;
  std::vector<std::string> environment = {};  // the user's environment, as NAME=value; empty: the daemon's
};

/// A running agent.
struct Worker {
  std::string name, cli, task, team, spawner, model, directory;
  WallMs started = 0;
  std::int32_t pid = 0;  // of its host
};

/// The end of an agent on request.
struct Release {
  std::string by = {};  // `human`, `api` or an agent's name
  std::string reason = {};
  bool own_only = false;  // `by` is an agent: it may end itself and the agents that it started
};

/// The answer to a prompt of an agent.
struct PromptAnswer {
  enum class Decision : std::uint8_t { Approve, Deny, Timeout };  // Timeout: denied, because no answer came in time
  Decision decision = Decision::Deny;
  std::string reason = {};
  std::vector<std::string> answers = {};  // to a question's parts, in their order
};

}  // namespace relay::broker
