/// Sessions and agents: their start, their state and their end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "schema/schema.h"

namespace relay::events {

struct AgentIdentifier {
  std::string name = {};
  std::string cli = {};
  std::optional<std::string> model = {};
  std::optional<std::string> version = {};
};

struct SessionConfig {
  std::optional<std::string> permission_mode = {};
  std::optional<std::string> working_directory = {};
};

struct SessionSummary {
  std::int64_t duration = 0;
  std::int64_t item_count = 0;
  std::vector<std::string> files_modified = {};
  std::int64_t commands_run = 0;
  std::optional<std::int64_t> total_tokens = {};
  std::optional<double> estimated_cost = {};
};

enum class SessionEnd : std::uint8_t { Completed, Released, Crashed, Timeout };

struct SessionStarted {
  AgentIdentifier agent = {};
  WallMs started_at = 0;
  SessionConfig config = {};
};

struct SessionEnded {
  WallMs ended_at = 0;
  SessionEnd reason{};
  std::optional<std::string> detail = {};
  std::optional<std::string> released_by = {};
  std::optional<SessionSummary> summary = {};
};

struct AgentSpawned {
  std::string agent_name = {};
  std::string cli = {};
  std::string spawned_by = {};
  std::optional<std::string> task = {};
  std::optional<std::string> role = {};
};

struct AgentReleased {
  std::string agent_name = {};
  std::string released_by = {};
  std::string reason = {};
};

struct AgentStatus {
  std::string state = {};
  std::optional<std::string> reason = {};
  std::optional<std::string> via = {};
};

struct AgentUnparsed {
  std::string source = {};
  std::string problem = {};
  std::optional<std::string> text = {};
};

}  // namespace relay::events

namespace relay::schema {

template <>
inline constexpr auto kChoices<events::SessionEnd> =
    std::array{Choice{events::SessionEnd::Completed, "completed"}, Choice{events::SessionEnd::Released, "released"},
               Choice{events::SessionEnd::Crashed, "crashed"}, Choice{events::SessionEnd::Timeout, "timeout"}};

template <>
inline constexpr auto kObject<events::AgentIdentifier> =
    object("AgentIdentifier", "An agent and the program that runs it.",
           member<&events::AgentIdentifier::name>("name", "the name that messages are addressed to"),
           member<&events::AgentIdentifier::cli>("cli", "the agent CLI: claude, codex, gemini, opencode, or another"),
           member<&events::AgentIdentifier::model>("model", "the model, if reported"),
           member<&events::AgentIdentifier::version>("version", "the version of the agent CLI, if reported"));

template <>
inline constexpr auto kObject<events::SessionConfig> = object(
    "SessionConfig", "The settings a session started with.",
    member<&events::SessionConfig::permission_mode>("permissionMode", "the permission mode, in the agent CLI's term"),
    member<&events::SessionConfig::working_directory>("workingDirectory", "the working directory"));

template <>
inline constexpr auto kObject<events::SessionSummary> =
    object("SessionSummary", "Totals of a session.",
           member<&events::SessionSummary::duration>("duration", "milliseconds from start to end"),
           member<&events::SessionSummary::item_count>("itemCount", "the number of completed items"),
           member<&events::SessionSummary::files_modified>("filesModified", "the changed files, each once"),
           member<&events::SessionSummary::commands_run>("commandsRun", "the number of commands run"),
           member<&events::SessionSummary::total_tokens>("totalTokens", "tokens of all kinds, when any were counted"),
           member<&events::SessionSummary::estimated_cost>("estimatedCost", "dollars, by the current cost table"));

template <>
inline constexpr auto kObject<events::SessionStarted> =
    object("SessionStarted", "A new session of an agent started.",
           member<&events::SessionStarted::agent>("agent", "the agent"),
           member<&events::SessionStarted::started_at>("startedAt", "when, in Unix milliseconds"),
           member<&events::SessionStarted::config>("config", "the settings it started with"));

template <>
inline constexpr auto kObject<events::SessionEnded> = object(
    "SessionEnded", "A session ended.",
    member<&events::SessionEnded::ended_at>("endedAt", "when, in Unix milliseconds"),
    member<&events::SessionEnded::reason>("reason", "how it ended"),
    member<&events::SessionEnded::detail>("detail", "details, if any: `exited with code 3`"),
    member<&events::SessionEnded::released_by>("releasedBy", "who released it: `human`, `api` or the name of an agent"),
    member<&events::SessionEnded::summary>("summary", "totals of the session"));

template <>
inline constexpr auto kObject<events::AgentSpawned> =
    object("AgentSpawned", "An agent was started on request.",
           member<&events::AgentSpawned::agent_name>("agentName", "the name of the started agent"),
           member<&events::AgentSpawned::cli>("cli", "the agent CLI"),
           member<&events::AgentSpawned::spawned_by>("spawnedBy", "who requested it"),
           member<&events::AgentSpawned::task>("task", "its first task"),
           member<&events::AgentSpawned::role>("role", "its role in a team"));

template <>
inline constexpr auto kObject<events::AgentReleased> =
    object("AgentReleased", "An agent that was started on request was stopped.",
           member<&events::AgentReleased::agent_name>("agentName", "the name of the stopped agent"),
           member<&events::AgentReleased::released_by>("releasedBy",
                                                       "who requested it: `human`, `api` or the name of an agent"),
           member<&events::AgentReleased::reason>("reason", "the reason given"));

template <>
inline constexpr auto kObject<events::AgentStatus> =
    object("AgentStatus", "The state of an agent changed.",
           member<&events::AgentStatus::state>("state", "the new state: idle, working, blocked, ..."),
           member<&events::AgentStatus::reason>("reason", "why, in one sentence"),
           member<&events::AgentStatus::via>("via", "the interface that reported it: transcript, hook, pty, ..."));

template <>
inline constexpr auto kObject<events::AgentUnparsed> =
    object("AgentUnparsed", "Output or an action of an agent could not be parsed.",
           member<&events::AgentUnparsed::source>("source", "where it was read: a transcript, a hook, the screen"),
           member<&events::AgentUnparsed::problem>("problem", "what is wrong with it, in one sentence"),
           member<&events::AgentUnparsed::text>("text", "the start of the text", {.max = 4096}));

}  // namespace relay::schema
