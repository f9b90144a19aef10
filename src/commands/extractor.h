/// Hears what an agent says to the relay in a text that comes in pieces.
///
///     Extractor extractor;
///     for (auto& commands : extractor.feed(bytes)) ...     // bytes may be cut anywhere, in mid-character too
///     for (auto& commands : extractor.finish()) ...        // the text is over (a turn, a message, a file)
///
/// Invariants: the same text gives the same utterances however it was cut; places count from the first byte ever fed,
///   across finish(), so they tell two equal utterances apart; holds at most one line and one message.
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
  /// The speaker is silent: a message that may go on is complete, unless a line is half-said.
  std::vector<Command> flush();

  /// Bytes fed so far; where the next one will stand.
  [[nodiscard]] std::uint64_t offset() const { return line_offset_ + held_bytes_; }

 private:
  void hold(std::string_view part);
  void take_held();

  LineGrammar grammar_;
  std::string held_;              // the beginning of a line; at most kMaxLineBytes
  std::uint64_t held_bytes_ = 0;  // how long it really is
  std::uint64_t line_offset_ = 0;
  std::uint64_t line_number_ = 1;
};

/// A whole text at once.
std::vector<Command> extract(std::string_view text, const GrammarOptions& options = {});

}  // namespace relay::commands
