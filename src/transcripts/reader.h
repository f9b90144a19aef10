/// Reads the lines of an agent's transcript into entries. One reader class per agent, one reader per file.
///
/// Invariants: pure; accepts any bytes, none are fatal; a record that was read before (same id and content) yields no
///   entry again, within the last kMaxRememberedIds; memory is bounded.
/// Threading: one thread, no I/O, no clock.
#pragma once

#include <memory>
#include <string_view>

#include "base/clock.h"
#include "transcripts/entry.h"

namespace relay::transcripts {

class Reader {
 public:
  virtual ~Reader() = default;
  virtual Entries read(std::string_view line) = 0;
  /// When the last line was written, as it records; 0 if it does not. The file of a forked session starts with the rows
  /// of another.
  [[nodiscard]] virtual WallMs written_at() const = 0;

  /// The file starts again (it was truncated or replaced): the state of the turn is reset, the ids stay.
  virtual void restart() = 0;
};

std::unique_ptr<Reader> claude_reader();
std::unique_ptr<Reader> codex_reader();
std::unique_ptr<Reader> gemini_reader();

}  // namespace relay::transcripts
