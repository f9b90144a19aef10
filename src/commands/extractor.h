/// Extracts the commands of an agent from a text that arrives in pieces.
///
///     Extractor extractor;
///     for (auto& command : extractor.feed(bytes)) ...     // bytes may be split anywhere, also inside a character
///     for (auto& command : extractor.finish()) ...        // the text has ended (a turn, a message, a file)
///
/// Invariants: the same text gives the same commands for any split; locations count from the first byte ever fed,
///   across finish(), so they distinguish equal commands; holds at most one line and one message.
/// Threading: one thread, no I/O, no clock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "commands/command.h"
#include "commands/grammar_options.h"
#include "commands/line_grammar.h"

namespace relay::commands {

class Extractor {
 public:
  explicit Extractor(GrammarOptions options = {}) : grammar_{std::move(options)} {}

  std::vector<Command> feed(std::string_view bytes);
  std::vector<Command> finish();
  /// The output is idle: completes a message that could continue, unless a line is incomplete.
  std::vector<Command> flush();

  /// The number of bytes fed so far, which is the offset of the next one.
  [[nodiscard]] std::uint64_t offset() const { return line_offset_ + held_bytes_; }

 private:
  void hold(std::string_view part);
  void take_held();

  LineGrammar grammar_;
  std::string held_;              // the start of a line; at most kMaxLineBytes
  std::uint64_t held_bytes_ = 0;  // the full length of that line
  std::uint64_t line_offset_ = 0;
  std::uint64_t line_number_ = 1;
};

/// Extracts the commands of a whole text.
std::vector<Command> extract(std::string_view text, const GrammarOptions& options = {});

}  // namespace relay::commands
