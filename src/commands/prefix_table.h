/// The words that begin a command, ready for matching: `@relay:`, `@thinking:`, and from each `X:` also `X.json:`.
///
/// Why by hand: a line of prose costs one table look-up here; RE2 with the one-line rule alone costs twice as much.
/// Threading: constant once made.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/grammar_options.h"
#include "commands/lead_in.h"

namespace relay::commands {

enum class Opener : std::uint8_t {
  Message,     // @relay:
  Thinking,    // @thinking:
  Json,        // @relay.json:
  Block,       // [[RELAY]]
  Metadata,    // [[RELAY_METADATA]]
  Summary,     // [[SUMMARY]]
  SessionEnd,  // [[SESSION_END]]
};

/// Is it one of those that go on until their closing mark?
constexpr bool is_block(Opener opener) { return opener >= Opener::Block; }

/// A line that begins with one of the words.
struct Opening {
  Opener opener;
  std::string_view word;  // as configured, `@relay:`
  LeadIn lead;
  std::string_view rest;  // of the line, after the word
};

class PrefixTable {
 public:
  explicit PrefixTable(const GrammarOptions& options);

  /// The word this line begins with, after its lead-in.
  [[nodiscard]] std::optional<Opening> opening(std::string_view line) const;

  /// By its first byte after the blanks: may this line matter at all (also as a fence, a tag, an escape sequence)?
  [[nodiscard]] bool may_matter(std::string_view line) const {
    std::size_t at = 0;
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
    return at < line.size() && first_bytes_[static_cast<unsigned char>(line[at])];
  }

  /// The ids after `->relay-file:` in this line, outside inline code.
  [[nodiscard]] std::vector<std::pair<std::size_t, std::string>> find_file_triggers(std::string_view line) const;

  /// Is one of the words written with a backslash before it somewhere in the text?
  [[nodiscard]] bool has_escaped_prefix(std::string_view text) const;

  /// The text without the backslash before each of the words: the escape is for us, not for whoever reads the text.
  [[nodiscard]] std::string unescaped(std::string_view text) const;

  /// For examples in sentences.
  [[nodiscard]] std::string_view relay_prefix() const { return relay_word_; }

 private:
  struct Word {
    std::string text;
    Opener opener;
  };

  std::vector<Word> words_;  // longest first
  std::vector<std::string> file_words_;
  std::string relay_word_;
  std::array<bool, 256> first_bytes_{};
};

/// What every file trigger ends in; a cheap search for it tells whether a text can hold one.
inline constexpr std::string_view kFileWordEnd = "-file:";

}  // namespace relay::commands
