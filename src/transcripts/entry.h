/// What an agent wrote down about its own work, as values: the same for every agent.
///
/// Why: agents keep records in raw markdown. There a relay command is exactly what the model wrote; on a screen it is
///   wrapped, coloured and scrolled.
/// Invariants: `id` is the record's own, so that a repetition can be recognised; empty only where the record has none.
///   Texts are valid UTF-8 and within limits.h. What a subagent or the program itself said is never a Text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"

namespace relay::transcripts {

/// Whose record this is: the agent's own id of its session or thread. Told once, and again when it changes.
struct SessionInfo {
  std::string id = {};
  std::string working_directory = {};
};

/// The agent's own words, raw markdown, one whole block as the model wrote it.
struct Text {
  std::string id = {};
  std::string text = {};
  bool whole = true;  // false: broken off, so its last line may be torn
};

/// What of a text can be relied on: all of it, or without the last line when it was broken off.
std::string_view finished_part(const Text& text);

/// What the model thought before it spoke. Not said to anybody.
struct Thought {
  std::string id = {};
  std::string text = {};
};

enum class Origin : std::uint8_t {
  Person,   // typed, pasted, queued; everything that reached the agent as if a person had said it
  Peer,     // through the agent's own door for other sessions
  Hook,     // context that a hook added
  Program,  // the agent program itself: reminders, environment, the summary after a compaction
};
std::string_view name_of(Origin origin);

/// What the model was given. Once it stands here, the model has it or gets it with its next request.
struct ModelInput {
  std::string id = {};
  std::string text = {};  // as the model sees it; a peer's words may stand between sentences of the agent program
  Origin origin = Origin::Person;
  std::string from = {};        // Peer: what the sender called itself; Hook: the hook's event
  std::string message_id = {};  // the id the sender gave, where the agent keeps it
};

/// A prompt that waits in the agent's own queue, or left it. Claude only.
struct Queued {
  std::string text = {};
  bool waiting = true;      // false: it left the queue
  std::string reason = {};  // why it left, in the agent's word: `absorbed_mid_turn`
};

struct ToolCall {
  std::string id = {};
  std::string name = {};
  std::string input = {};  // JSON text, or what the agent wrote instead
  bool cut = false;
};

struct ToolResult {
  std::string id = {};  // of the Tool
  std::string text = {};
  bool failed = false;
  bool cut = false;
  WallMs at = 0;  // when it came, where that is not when its line was written
};

/// A command that was run, where the record tells more of it than the tool's result does. Stands before that result.
struct CommandRun {
  std::string tool = {};  // that ran it; a script may run several, and then this is no Tool's id
  std::string text = {};  // empty: what the Tool was given
  std::optional<std::int64_t> exit_code = {};
  std::optional<std::int64_t> duration_ms = {};
  std::string output = {}, errors = {};
};

enum class Change : std::uint8_t { Created, Edited, Deleted };

/// A file that was changed, told like a Command: what came of it, not what was wanted.
struct FileChange {
  std::string tool = {};
  Change change = Change::Edited;
  std::string path = {};
  std::string moved_to = {};
  std::string diff = {};     // unified; may lack the lines that name the file
  std::string content = {};  // of one that was created, where there is no diff
};

/// What one answer of the model cost. A later one with the same id stands for the earlier one.
/// The counts do not overlap, except that reasoning is part of output.
struct TokenUsage {
  std::string id = {};
  std::string model = {};
  std::optional<std::int64_t> input = {};  // read for the first time
  std::optional<std::int64_t> cache_read = {};
  std::optional<std::int64_t> cache_write = {};
  std::optional<std::int64_t> output = {};
  std::optional<std::int64_t> reasoning = {};
  std::optional<double> cost = {};  // in dollars, where the agent says so

  bool operator==(const TokenUsage&) const = default;
};

/// How far a quota is used up. Told when it changes.
struct Limit {
  std::string name = {};  // `primary`, `secondary`: as the agent calls it
  double used_percent = 0;
  std::optional<std::int64_t> window_minutes = {};
  std::optional<std::int64_t> resets_at = {};  // seconds since 1970

  bool operator==(const Limit&) const = default;
};

enum class FailureKind : std::uint8_t { RateLimit, UsageLimit, Overloaded, Login, Other };
std::string_view name_of(FailureKind kind);

/// The model could not be asked, or did not answer.
struct TurnFailure {
  std::string id = {};
  FailureKind kind = FailureKind::Other;
  std::string code = {};    // the agent's word: `rate_limit`, `usage_limit_exceeded`
  std::string text = {};    // the agent's sentence
  std::int64_t status = 0;  // of HTTP; 0: not told
};

struct TurnStarted {
  std::string id = {};
  std::string trigger = {};  // whose doing, in the agent's word: `human`, `peer`, `user`, `queue`; may be empty
};

enum class TurnOutcome : std::uint8_t { Done, Interrupted, Failed };
std::string_view name_of(TurnOutcome ending);

struct TurnEnded {
  std::string id = {};
  TurnOutcome ending = TurnOutcome::Done;
};

/// A line we did not understand. Never fatal: the next line may be plain again. A type is told once.
struct Unknown {
  std::string type = {};     // the record's own; empty when it has none, or when the line could not be read at all
  std::string problem = {};  // one sentence
};

using Entry = std::variant<SessionInfo, Text, Thought, ModelInput, Queued, ToolCall, ToolResult, CommandRun, FileChange,
                           TokenUsage, Limit, TurnFailure, TurnStarted, TurnEnded, Unknown>;
using Entries = std::vector<Entry>;

}  // namespace relay::transcripts
