/// The prefixes of commands, prepared for matching: `@relay:`, `@thinking:`, and for each `X:` also `X.json:`.
///
/// Why by hand: a line of prose costs one table lookup here; RE2, with the one-line rule alone, costs twice as much.
/// Threading: constant after construction.
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

/// Does the opener start a block, which continues until its closing mark?
constexpr bool is_block(Opener opener) { return opener >= Opener::Block; }

/// A line that starts with one of the prefixes.
struct Opening {
  Opener opener;
  std::string_view prefix;  // as configured, `@relay:`
  LeadIn lead;
  std::string_view rest;  // of the line, after the prefix
};

class PrefixTable {
 public:
  explicit PrefixTable(const GrammarOptions& options);

  /// The prefix that this line starts with, after its lead-in.
  [[nodiscard]] std::optional<Opening> opening(std::string_view line) const;

  /// May the line be relevant, by its first byte after the blanks (also as a fence, a tag, an escape
  /// sequence)?
  [[nodiscard]] bool may_matter(std::string_view line) const {
    std::size_t at = 0;
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
    return at < line.size() && first_bytes_[static_cast<unsigned char>(line[at])];
  }

  /// The ids after `->relay-file:` in this line, outside inline code.
  [[nodiscard]] std::vector<std::pair<std::size_t, std::string>> find_file_triggers(std::string_view line) const;

  /// Does the text contain one of the prefixes with a backslash before it?
  [[nodiscard]] bool has_escaped_prefix(std::string_view text) const;

  /// The text without the backslash before each prefix: the escape is for the grammar, not for the reader of the text.
  [[nodiscard]] std::string unescaped(std::string_view text) const;

  /// For examples in error messages.
  [[nodiscard]] std::string_view relay_prefix() const { return relay_prefix_; }

 private:
  struct Prefix {
    std::string text;
    Opener opener;
  };

  std::vector<Prefix> prefixes_;  // in order of decreasing length
  std::vector<std::string> file_prefixes_;
  std::string relay_prefix_;
  std::array<bool, 256> first_bytes_{};
};

/// The end of every file prefix; a cheap search for it tests if a text can contain one.
inline constexpr std::string_view kFilePrefixEnd = "-file:";

}  // namespace relay::commands
