/// Sessions, as clients read and write them: one life of an agent from its greeting to its end.
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
    "SessionToCreate", "An agent to start.",
    member<&api::CreateSessionRequest::agent>("agent", "its name; nobody who is here has it", {.min = 1, .max = 128}),
    member<&api::CreateSessionRequest::cli>("cli", "its program: claude, codex, gemini, …; cut at blanks, no shell",
                                            {.min = 1, .max = 4096}),
    member<&api::CreateSessionRequest::args>("args", "further words for it, as they are", {.max = 64}),
    member<&api::CreateSessionRequest::task>("task", "said to it once it runs, as a message with a ledger"),
    member<&api::CreateSessionRequest::cwd>("cwd", "where it works; the project's root when absent", {.max = 4096}),
    member<&api::CreateSessionRequest::model>("model", "for people to read", {.max = 4096}),
    member<&api::CreateSessionRequest::team>("team", "for people to read", {.max = 4096}),
    member<&api::CreateSessionRequest::role>("role", "its part in the team, told in `agent.spawned`", {.max = 4096}),
    member<&api::CreateSessionRequest::from>("from", "who asks; `human` when absent", {.max = 128}));
template <>
inline constexpr auto kObject<api::CreateSessionResponse> =
    object("SessionCreated", "A new session.", member<&api::CreateSessionResponse::session_id>("sessionId", "its id"),
           member<&api::CreateSessionResponse::agent_name>("agentName", "as asked"),
           member<&api::CreateSessionResponse::status>("status", "`starting`"),
           member<&api::CreateSessionResponse::pid>("pid", "of the program"),
           member<&api::CreateSessionResponse::host_pid>("hostPid", "of the host that runs it"),
           member<&api::CreateSessionResponse::task_id>("taskId", "the message that its task became"));

template <>
inline constexpr auto kObject<api::SessionBody> =
    object("Session", "One life of an agent.", member<&api::SessionBody::session_id>("sessionId", "its id"),
           member<&api::SessionBody::agent_name>("agentName", "whose"),
           member<&api::SessionBody::started_at>("startedAt", "milliseconds since 1970"),
           member<&api::SessionBody::last_seen>("lastSeen", "likewise"),
           member<&api::SessionBody::ended_at>("endedAt", "likewise; absent while it can go on"),
           member<&api::SessionBody::connected>("connected", "it is here now"),
           member<&api::SessionBody::item_count>("itemCount", "what it did, counted"),
           member<&api::SessionBody::commands_run>("commandsRun", "of these, commands"),
           member<&api::SessionBody::files_modified>("filesModified", "what it wrote"));
template <>
inline constexpr auto kObject<api::SessionSummary> =
    object("SessionOutcome", "What a session came to.",
           member<&api::SessionSummary::duration>("duration", "milliseconds from its greeting to its end"),
           member<&api::SessionSummary::item_count>("itemCount", "what it did, counted"),
           member<&api::SessionSummary::commands_run>("commandsRun", "of these, commands"),
           member<&api::SessionSummary::files_modified>("filesModified", "what it wrote"));
template <>
inline constexpr auto kObject<api::EndSessionResponse> =
    object("SessionEnded", "The agent is gone.", member<&api::EndSessionResponse::success>("success", "true"),
           member<&api::EndSessionResponse::summary>("summary", "what it came to"));

}  // namespace relay::schema
