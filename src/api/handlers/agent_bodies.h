/// Agents and what is done to them, as clients read and write it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "schema/schema.h"

namespace relay::api {

enum class AgentRunState : std::uint8_t { Running, Idle, Stopped };

struct AgentBody {
  std::string id = {};
  std::string name = {};
  std::string workspace_id = {};
  AgentRunState status = AgentRunState::Stopped;
  std::optional<std::string> provider = {};
  std::optional<std::string> session_id = {};
  std::optional<std::string> state = {};
  std::optional<std::string> reason = {};
  bool paused = false;
  bool spawned = false;
  std::optional<std::int64_t> pid = {};
  std::optional<WallMs> spawned_at = {};
  std::optional<std::string> cwd = {};
  std::optional<std::string> task = {};
  std::optional<std::string> model = {};
  std::optional<std::string> team = {};
  std::int64_t pending = 0;
  std::int64_t messages_sent = 0;
  std::int64_t messages_received = 0;
  std::optional<WallMs> last_seen = {};
};
struct AgentList {
  std::vector<AgentBody> agents = {};
  std::optional<std::string> workspace_id = {};
  std::optional<bool> more = {};
};

struct AgentOutput {
  std::vector<std::string> output = {};
  std::int64_t columns = 0;
  std::int64_t rows = 0;
};

struct InputBody {
  std::string input = {};
};
struct ReasonBody {
  std::optional<std::string> reason = {};
};
struct SpawnAgentRequest {
  std::string name = {};
  std::optional<std::string> provider = {};
  std::optional<std::string> task = {};
};

}  // namespace relay::api

namespace relay::schema {

template <>
inline constexpr auto kChoices<api::AgentRunState> =
    std::array{Choice{api::AgentRunState::Running, "running"}, Choice{api::AgentRunState::Idle, "idle"},
               Choice{api::AgentRunState::Stopped, "stopped"}};

template <>
inline constexpr auto kObject<api::AgentBody> = object(
    "Agent", "An agent that is here, or was.",
    member<&api::AgentBody::id>("id", "its workspace's id, a dot, its name; routes take the name alone as well"),
    member<&api::AgentBody::name>("name", "as others call it"),
    member<&api::AgentBody::workspace_id>("workspaceId", "where it is"),
    member<&api::AgentBody::status>("status", "`stopped`: not connected"),
    member<&api::AgentBody::provider>("provider", "its program"),
    member<&api::AgentBody::session_id>("sessionId", "of its present life, while it is connected"),
    member<&api::AgentBody::state>(
        "state", "as its session tells it: starting, active, typing, idle, waiting, blocked, paused, unknown"),
    member<&api::AgentBody::reason>("reason", "why what is for it waits"),
    member<&api::AgentBody::paused>("paused", "a person holds back what is for it"),
    member<&api::AgentBody::spawned>("spawned", "the daemon started it: it may be typed into and ended from here"),
    member<&api::AgentBody::pid>("pid", "of the program, where a host runs it"),
    member<&api::AgentBody::spawned_at>("spawnedAt", "when its host began; milliseconds since 1970"),
    member<&api::AgentBody::cwd>("cwd", "where it works"),
    member<&api::AgentBody::task>("task", "what it was asked to do"),
    member<&api::AgentBody::model>("model", "as it tells"), member<&api::AgentBody::team>("team", "as it tells"),
    member<&api::AgentBody::pending>("pending", "messages that wait for it"),
    member<&api::AgentBody::messages_sent>("messagesSent", "since its name is known"),
    member<&api::AgentBody::messages_received>("messagesReceived", "since its name is known: deliveries it was given"),
    member<&api::AgentBody::last_seen>("lastSeen", "milliseconds since 1970"));
template <>
inline constexpr auto kObject<api::AgentList> =
    object("AgentList", "Agents, by name.", member<&api::AgentList::agents>("agents", "those asked for"),
           member<&api::AgentList::workspace_id>("workspaceId", "when they are of one workspace"),
           member<&api::AgentList::more>("more", "there are others: ask the workspace again behind the last name"));

template <>
inline constexpr auto kObject<api::AgentOutput> =
    object("AgentOutput", "What stands on an agent's screen.", member<&api::AgentOutput::output>("output", "its lines"),
           member<&api::AgentOutput::columns>("columns", "of the screen"),
           member<&api::AgentOutput::rows>("rows", "of the screen"));

template <>
inline constexpr auto kObject<api::InputBody> =
    object("Input", "Keys for an agent's terminal.",
           member<&api::InputBody::input>("input", "typed as it is, control characters too", {.min = 1, .max = 65536}));
template <>
inline constexpr auto kObject<api::ReasonBody> = object(
    "Reason", "Why.", member<&api::ReasonBody::reason>("reason", "for the ledger and for people", {.max = 4096}));
template <>
inline constexpr auto kObject<api::SpawnAgentRequest> =
    object("AgentToSpawn", "An agent to start.",
           member<&api::SpawnAgentRequest::name>("name", "nobody who is here has it", {.min = 1, .max = 128}),
           member<&api::SpawnAgentRequest::provider>("provider", "the program; `claude` when absent", {.max = 4096}),
           member<&api::SpawnAgentRequest::task>("task", "said to it once it runs"));

}  // namespace relay::schema
