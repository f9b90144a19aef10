/// Sessions and agents: who came, for whom, and what became of it.
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
    object("AgentIdentifier", "Which agent, and what runs it.",
           member<&events::AgentIdentifier::name>("name", "the name others write to"),
           member<&events::AgentIdentifier::cli>("cli", "the program: claude, codex, gemini, opencode, or another"),
           member<&events::AgentIdentifier::model>("model", "the model, when it is known"),
           member<&events::AgentIdentifier::version>("version", "of the program, when it is known"));

template <>
inline constexpr auto kObject<events::SessionConfig> =
    object("SessionConfig", "How a session was begun.",
           member<&events::SessionConfig::permission_mode>("permissionMode", "as the agent calls it"),
           member<&events::SessionConfig::working_directory>("workingDirectory", "where it works"));

template <>
inline constexpr auto kObject<events::SessionSummary> =
    object("SessionSummary", "What was done in a session.",
           member<&events::SessionSummary::duration>("duration", "milliseconds from beginning to end"),
           member<&events::SessionSummary::item_count>("itemCount", "items that were completed"),
           member<&events::SessionSummary::files_modified>("filesModified", "files that were changed, each once"),
           member<&events::SessionSummary::commands_run>("commandsRun", "commands that were run"),
           member<&events::SessionSummary::total_tokens>("totalTokens", "tokens of every kind, when any were counted"),
           member<&events::SessionSummary::estimated_cost>("estimatedCost", "dollars, by the table of costs of today"));

template <>
inline constexpr auto kObject<events::SessionStarted> = object(
    "SessionStarted", "An agent came: a new session began.", member<&events::SessionStarted::agent>("agent", "who"),
    member<&events::SessionStarted::started_at>("startedAt", "when, in Unix milliseconds"),
    member<&events::SessionStarted::config>("config", "how"));

template <>
inline constexpr auto kObject<events::SessionEnded> =
    object("SessionEnded", "A session is over.",
           member<&events::SessionEnded::ended_at>("endedAt", "when, in Unix milliseconds"),
           member<&events::SessionEnded::reason>("reason", "how it ended"),
           member<&events::SessionEnded::detail>("detail", "what is known of it, in words: `exited with code 3`"),
           member<&events::SessionEnded::released_by>("releasedBy", "who released it: `human`, `api` or an agent"),
           member<&events::SessionEnded::summary>("summary", "what was done in it"));

template <>
inline constexpr auto kObject<events::AgentSpawned> =
    object("AgentSpawned", "An agent was started for somebody.",
           member<&events::AgentSpawned::agent_name>("agentName", "who was started"),
           member<&events::AgentSpawned::cli>("cli", "the program"),
           member<&events::AgentSpawned::spawned_by>("spawnedBy", "who asked for it"),
           member<&events::AgentSpawned::task>("task", "its first task"),
           member<&events::AgentSpawned::role>("role", "its part in a team"));

template <>
inline constexpr auto kObject<events::AgentReleased> =
    object("AgentReleased", "An agent that ran for others was ended.",
           member<&events::AgentReleased::agent_name>("agentName", "who was ended"),
           member<&events::AgentReleased::released_by>("releasedBy", "who asked for it: `human`, `api` or an agent"),
           member<&events::AgentReleased::reason>("reason", "why"));

template <>
inline constexpr auto kObject<events::AgentStatus> =
    object("AgentStatus", "What an agent is doing has changed.",
           member<&events::AgentStatus::state>("state", "what it does now: idle, working, blocked, ..."),
           member<&events::AgentStatus::reason>("reason", "why, in words"),
           member<&events::AgentStatus::via>("via", "how that is known"));

template <>
inline constexpr auto kObject<events::AgentUnparsed> =
    object("AgentUnparsed", "An agent said or did something that was not understood.",
           member<&events::AgentUnparsed::source>("source", "where it stood: a record, a hook, the screen"),
           member<&events::AgentUnparsed::problem>("problem", "what is wrong with it, in a sentence"),
           member<&events::AgentUnparsed::text>("text", "the beginning of it", {.max = 4096}));

}  // namespace relay::schema
