/// Request and response bodies about sessions. A session lasts from the HELLO of an agent to its end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "schema/schema.h"

namespace relay::api {

struct CreateSessionRequest {
  std::string agent = {};
  std::string cli = {};
  std::optional<std::vector<std::string>> args = {};
  std::optional<std::string> task = {};
  std::optional<std::string> cwd = {};
  std::optional<std::string> model = {};
  std::optional<std::string> team = {};
  std::optional<std::string> role = {};
  std::optional<std::string> from = {};
};
struct CreateSessionResponse {
  std::string session_id = {};
  std::string agent_name = {};
  std::string status = "starting";
  std::optional<std::int64_t> pid = {};
  std::optional<std::int64_t> host_pid = {};
  std::optional<std::string> task_id = {};
};

struct SessionBody {
  std::string session_id = {};
  std::string agent_name = {};
  WallMs started_at = 0;
  WallMs last_seen = 0;
  std::optional<WallMs> ended_at = {};
  bool connected = false;
  std::int64_t item_count = 0;
  std::int64_t commands_run = 0;
  std::vector<std::string> files_modified = {};
};

struct SessionSummary {
  std::int64_t duration = 0;
  std::int64_t item_count = 0;
  std::int64_t commands_run = 0;
  std::vector<std::string> files_modified = {};
};
struct EndSessionResponse {
  bool success = true;
  SessionSummary summary = {};
};

}  // namespace relay::api

namespace relay::schema {

template <>
inline constexpr auto kObject<api::CreateSessionRequest> = object(
    "CreateSessionRequest", "An agent to start.",
    member<&api::CreateSessionRequest::agent>("agent", "a name that no connected agent has", {.min = 1, .max = 128}),
    member<&api::CreateSessionRequest::cli>("cli", "the agent CLI: claude, codex, gemini, …; split at spaces, no shell",
                                            {.min = 1, .max = 4096}),
    member<&api::CreateSessionRequest::args>("args", "more arguments, passed as they are", {.max = 64}),
    member<&api::CreateSessionRequest::task>("task", "sent to the agent as its first message"),
    member<&api::CreateSessionRequest::cwd>("cwd", "working directory; the project's root when absent", {.max = 4096}),
    member<&api::CreateSessionRequest::model>("model", "shown to users", {.max = 4096}),
    member<&api::CreateSessionRequest::team>("team", "shown to users", {.max = 4096}),
    member<&api::CreateSessionRequest::role>("role", "its role in the team, reported in `agent.spawned`",
                                             {.max = 4096}),
    member<&api::CreateSessionRequest::from>("from", "who starts it; `human` when absent", {.max = 128}));
template <>
inline constexpr auto kObject<api::CreateSessionResponse> =
    object("CreateSessionResponse", "A new session.",
           member<&api::CreateSessionResponse::session_id>("sessionId", "the session's id"),
           member<&api::CreateSessionResponse::agent_name>("agentName", "the agent's name"),
           member<&api::CreateSessionResponse::status>("status", "`starting`"),
           member<&api::CreateSessionResponse::pid>("pid", "process id of the agent CLI"),
           member<&api::CreateSessionResponse::host_pid>("hostPid", "process id of its host"),
           member<&api::CreateSessionResponse::task_id>("taskId", "the id of the message that carries the task"));

template <>
inline constexpr auto kObject<api::SessionBody> = object(
    "Session", "A session of an agent.", member<&api::SessionBody::session_id>("sessionId", "the session's id"),
    member<&api::SessionBody::agent_name>("agentName", "the agent"),
    member<&api::SessionBody::started_at>("startedAt", "milliseconds since 1970"),
    member<&api::SessionBody::last_seen>("lastSeen", "milliseconds since 1970"),
    member<&api::SessionBody::ended_at>("endedAt", "milliseconds since 1970; absent until the session has ended"),
    member<&api::SessionBody::connected>("connected", "the agent is connected in this session"),
    member<&api::SessionBody::item_count>("itemCount", "number of items"),
    member<&api::SessionBody::commands_run>("commandsRun", "number of commands it ran"),
    member<&api::SessionBody::files_modified>("filesModified", "files it modified"));
template <>
inline constexpr auto kObject<api::SessionSummary> =
    object("SessionTotals", "The totals of a session.",
           member<&api::SessionSummary::duration>("duration", "milliseconds from start to end"),
           member<&api::SessionSummary::item_count>("itemCount", "number of items"),
           member<&api::SessionSummary::commands_run>("commandsRun", "number of commands it ran"),
           member<&api::SessionSummary::files_modified>("filesModified", "files it modified"));
template <>
inline constexpr auto kObject<api::EndSessionResponse> =
    object("EndSessionResponse", "The session has ended.", member<&api::EndSessionResponse::success>("success", "true"),
           member<&api::EndSessionResponse::summary>("summary", "its totals"));

}  // namespace relay::schema
