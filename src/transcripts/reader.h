/// One line of an agent's record in, entries out. One reader per agent, one reader per file.
///
/// Invariants: pure; any bytes are taken and none are fatal; a record that was read before (the same id and content)
///   gives nothing again, within the last kRemembered; what is remembered is bounded.
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
  /// When the line that was read last says it was written; 0 when it does not. A session that is forked begins its file
  /// with the rows of another.
  [[nodiscard]] virtual WallMs written_at() const = 0;

  /// The file begins anew (it was cut or replaced): what was known of a turn is forgotten, the ids are not.
  virtual void restart() = 0;
};

std::unique_ptr<Reader> claude_reader();
std::unique_ptr<Reader> codex_reader();
std::unique_ptr<Reader> gemini_reader();

}  // namespace relay::transcripts
