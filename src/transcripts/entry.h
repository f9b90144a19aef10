/// The entries of an agent's transcript, as values, the same for every agent.
///
/// Why: agents record raw markdown. There a relay command is exactly what the model wrote; on a screen it is wrapped,
///   colored and scrolled.
/// Invariants: `id` is the transcript's own, so that repetitions can be detected; it is empty only where the transcript
///   has none. Texts are valid UTF-8 and within limits.h. Output of a subagent or of the program itself is never a
///   Text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"

namespace relay::transcripts {

/// The agent's own id of its session or thread. Emitted once, and again when it changes.
struct SessionInfo {
  std::string id = {};
  std::string working_directory = {};
};

/// Output of the model, raw markdown, one whole block as written.
struct Text {
  std::string id = {};
  std::string text = {};
  bool whole = true;  // false: interrupted, so its last line may be incomplete
};

/// The complete lines of a text: all of it, or without the last line when it was interrupted.
std::string_view complete_lines(const Text& text);

/// The model's reasoning. Not addressed to any recipient.
struct Thought {
  std::string id = {};
  std::string text = {};
};

enum class Origin : std::uint8_t {
  User,     // typed, pasted, queued: all input that reached the agent as the user's
  Peer,     // through the agent's own interface for other sessions
  Hook,     // context that a hook added
  Program,  // the agent program itself: reminders, environment, the summary after a compaction
};
std::string_view name_of(Origin origin);

/// Input of the model. Once it is recorded, the model has it or gets it with its next request.
struct ModelInput {
  std::string id = {};
  std::string text = {};  // as the model receives it; the program may wrap a peer's text in sentences
  Origin origin = Origin::User;
  std::string from = {};        // Peer: the sender's name for itself; Hook: the hook's event
  std::string message_id = {};  // the sender's id, where the agent records it
};

/// A prompt that entered or left the agent's own queue. Claude only.
struct Queued {
  std::string text = {};
  bool waiting = true;      // false: it left the queue
  std::string reason = {};  // why it left, as recorded: `absorbed_mid_turn`
};

struct ToolCall {
  std::string id = {};
  std::string name = {};
  std::string input = {};  // JSON text, or the agent's own format
  bool cut = false;
};

struct ToolResult {
  std::string id = {};  // of the ToolCall
  std::string text = {};
  bool failed = false;
  bool cut = false;
  WallMs at = 0;  // when it arrived, if that differs from the time of its line
};

/// A command that ran, where the transcript has more than the tool's result. It precedes that result.
struct CommandRun {
  std::string tool = {};  // the ToolCall; a script may run several commands, and then this is no ToolCall's id
  std::string text = {};  // empty: the input of the ToolCall
  std::optional<std::int64_t> exit_code = {};
  std::optional<std::int64_t> duration_ms = {};
  std::string output = {}, errors = {};
};

enum class Change : std::uint8_t { Created, Edited, Deleted };

/// A file that changed: the effect, like CommandRun, not the request.
struct FileChange {
  std::string tool = {};
  Change change = Change::Edited;
  std::string path = {};
  std::string moved_to = {};
  std::string diff = {};     // unified; may lack the file headers
  std::string content = {};  // of a created file without a diff
};

/// The cost of one reply of the model. A later entry with the same id replaces the earlier one. The counts do not
/// overlap, except that reasoning is part of output.
struct TokenUsage {
  std::string id = {};
  std::string model = {};
  std::optional<std::int64_t> input = {};  // uncached
  std::optional<std::int64_t> cache_read = {};
  std::optional<std::int64_t> cache_write = {};
  std::optional<std::int64_t> output = {};
  std::optional<std::int64_t> reasoning = {};
  std::optional<double> cost = {};  // in dollars, where the agent reports it

  bool operator==(const TokenUsage&) const = default;
};

/// The used part of a quota. Emitted when it changes.
struct Limit {
  std::string name = {};  // `primary`, `secondary`: the agent's name for it
  double used_percent = 0;
  std::optional<std::int64_t> window_minutes = {};
  std::optional<std::int64_t> resets_at = {};  // seconds since 1970

  bool operator==(const Limit&) const = default;
};

enum class FailureKind : std::uint8_t { RateLimit, UsageLimit, Overloaded, Login, Other };
std::string_view name_of(FailureKind kind);

/// A request to the model failed.
struct TurnFailure {
  std::string id = {};
  FailureKind kind = FailureKind::Other;
  std::string code = {};    // as recorded: `rate_limit`, `usage_limit_exceeded`
  std::string text = {};    // the agent's message
  std::int64_t status = 0;  // of HTTP; 0: unknown
};

struct TurnStarted {
  std::string id = {};
  std::string trigger = {};  // as recorded: `human`, `peer`, `user`, `queue`; may be empty
};

enum class TurnOutcome : std::uint8_t { Done, Interrupted, Failed };
std::string_view name_of(TurnOutcome outcome);

struct TurnEnded {
  std::string id = {};
  TurnOutcome outcome = TurnOutcome::Done;
};

/// A line that the reader does not understand. Never fatal: reading continues with the next line. Each type is reported
/// once.
struct Unknown {
  std::string type = {};     // the transcript's own; empty without one, or when the line is not readable
  std::string problem = {};  // one sentence
};

using Entry = std::variant<SessionInfo, Text, Thought, ModelInput, Queued, ToolCall, ToolResult, CommandRun, FileChange,
                           TokenUsage, Limit, TurnFailure, TurnStarted, TurnEnded, Unknown>;
using Entries = std::vector<Entry>;

}  // namespace relay::transcripts
