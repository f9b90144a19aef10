/// Agents that the daemon runs for others, as values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"

namespace relay::broker {

/// An agent to be run in a terminal of its own.
struct HostSpec {
  std::string name;
  std::vector<std::string> words;  // the program and its arguments
  std::string directory;           // where it works; empty: the project's root
  bool inside_project = false;     // a directory elsewhere, or behind a link, is refused
  std::string spawner, team, model, task;
  std::vector<std::string> environment = {};  // the user's own, as NAME=value; empty: the daemon's
};

/// A running one.
struct Worker {
  std::string name, cli, task, team, spawner, model, directory;
  WallMs started = 0;
  std::int32_t pid = 0;  // of its host
};

/// Who ends an agent, and why.
struct Release {
  std::string by = {};  // `human`, `api` or an agent's name
  std::string reason = {};
  bool own_only = false;  // `by` is an agent: it ends itself and those it started
};

/// The answer to a prompt of an agent.
struct PromptAnswer {
  enum class Decision : std::uint8_t { Allow, Deny, Timeout };  // Timeout: denied, because nobody answered
  Decision verdict = Decision::Deny;
  std::string reason = {};
  std::vector<std::string> answers = {};  // to a question's parts, in their order
};

}  // namespace relay::broker
