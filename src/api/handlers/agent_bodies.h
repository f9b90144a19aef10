/// Request and response bodies about agents.
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
inline constexpr auto kObject<api::AgentBody> =
    object("Agent", "An agent that is or was connected.",
           member<&api::AgentBody::id>("id", "the workspace id, a dot and the name; routes also accept the plain name"),
           member<&api::AgentBody::name>("name", "its name in the workspace"),
           member<&api::AgentBody::workspace_id>("workspaceId", "its workspace"),
           member<&api::AgentBody::status>("status", "`stopped`: not connected"),
           member<&api::AgentBody::provider>("provider", "its agent CLI"),
           member<&api::AgentBody::session_id>("sessionId", "its current session, while it is connected"),
           member<&api::AgentBody::state>(
               "state", "as its session reports it: starting, active, typing, idle, waiting, blocked, paused, unknown"),
           member<&api::AgentBody::reason>("reason", "why its deliveries are pending"),
           member<&api::AgentBody::paused>("paused", "the user paused its deliveries"),
           member<&api::AgentBody::spawned>("spawned", "the daemon started it, so input and stop are allowed"),
           member<&api::AgentBody::pid>("pid", "process id of the agent CLI, when a host runs it"),
           member<&api::AgentBody::spawned_at>("spawnedAt", "when its host started; milliseconds since 1970"),
           member<&api::AgentBody::cwd>("cwd", "its working directory"),
           member<&api::AgentBody::task>("task", "the task it was started with"),
           member<&api::AgentBody::model>("model", "as the agent reports it"),
           member<&api::AgentBody::team>("team", "as the agent reports it"),
           member<&api::AgentBody::pending>("pending", "number of its pending deliveries"),
           member<&api::AgentBody::messages_sent>("messagesSent", "since its name was first seen"),
           member<&api::AgentBody::messages_received>("messagesReceived", "deliveries since its name was first seen"),
           member<&api::AgentBody::last_seen>("lastSeen", "milliseconds since 1970"));
template <>
inline constexpr auto kObject<api::AgentList> =
    object("AgentList", "Agents in name order.", member<&api::AgentList::agents>("agents", "the agents"),
           member<&api::AgentList::workspace_id>("workspaceId", "set when all are in one workspace"),
           member<&api::AgentList::more>("more", "true: get the next page with `after` set to the last name"));

template <>
inline constexpr auto kObject<api::AgentOutput> = object(
    "AgentOutput", "The text on an agent's screen.", member<&api::AgentOutput::output>("output", "lines of the screen"),
    member<&api::AgentOutput::columns>("columns", "width of the screen"),
    member<&api::AgentOutput::rows>("rows", "height of the screen"));

template <>
inline constexpr auto kObject<api::InputBody> =
    object("Input", "Input for an agent's terminal.",
           member<&api::InputBody::input>("input", "written as it is, including control characters",
                                          {.min = 1, .max = 65536}));
template <>
inline constexpr auto kObject<api::ReasonBody> =
    object("Reason", "An optional reason.",
           member<&api::ReasonBody::reason>("reason", "recorded in the event log", {.max = 4096}));
template <>
inline constexpr auto kObject<api::SpawnAgentRequest> =
    object("SpawnAgentRequest", "An agent to start.",
           member<&api::SpawnAgentRequest::name>("name", "a name that no connected agent has", {.min = 1, .max = 128}),
           member<&api::SpawnAgentRequest::provider>("provider", "the agent CLI; `claude` when absent", {.max = 4096}),
           member<&api::SpawnAgentRequest::task>("task", "sent to the agent as its first message"));

}  // namespace relay::schema
