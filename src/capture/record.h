/// One event in an agent's session, as stored: a line of JSON (docs/spec/capture.md).
///
/// Invariants: a line has no secret that `redact` detects, is at most kMaxLineBytes long with its newline, and is valid
///   JSON for any data. Threading: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"

namespace relay::capture {

inline constexpr std::size_t kMaxFieldBytes = 32 * 1024;  // of one member of `data`, as JSON
inline constexpr std::size_t kMaxDataBytes = 96 * 1024;   // of all members
inline constexpr std::size_t kMaxLineBytes = 256 * 1024;

enum class RecordKind : std::uint8_t {
  SessionStart,
  Prompt,
  ToolCall,
  ToolResult,
  Permission,
  Notification,
  Message,  // the final text of a turn
  RateLimited,
  Failed,
  TurnEnd,
  SessionEnd,
  Interrupt,
  Note,
  Other,
};
std::string_view name_of(RecordKind kind);

/// The origin of a record.
struct Source {
  std::string session = {};  // the agent's own id for it
  std::string agent = {};    // claude, codex, gemini, ...
  std::string working_directory = {};
  std::string name = {};  // the agent's name on the relay; empty: none
};

struct Record {
  Source source = {};
  RecordKind kind = RecordKind::Other;
  json::object data = {};
};

/// A note that the agent records: `type` is a word like decision, constraint, todo.
Result<Record> note(Source source, std::string_view type, std::string_view text);

/// A line of a file with its time.
struct TimedRecord {
  WallMs at = 0;
  Record record = {};
};
/// An unknown kind is read as Other. The error is one sentence.
Result<TimedRecord> parse_record(std::string_view line);

/// Redacts secrets and cuts every value to its limit; ends with a newline. `data.cut` names the members of `data` that
/// were cut or omitted.
std::string encode_line(Record record, WallMs now);

}  // namespace relay::capture
