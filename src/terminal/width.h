/// The width of characters, and which characters share a cell.
///
/// One cell holds one grapheme cluster (a base and its marks, a flag, a family joined by ZWJ), because the observed
/// programs count columns that way. The Unicode tables are utf8proc's (Unicode 15); only width.cc names it.
#pragma once

#include <cstdint>

namespace relay::terminal {

struct CharacterTraits {
  std::uint8_t columns = 1;  // 0, 1 or 2
  bool plain = true;         // never joins its neighbors, so ClusterState is not needed
};

/// For U+00A0 and above.
CharacterTraits traits_of(char32_t code);

/// True when U+FE0F behind this character selects its emoji form, which is two columns wide.
bool has_emoji_form(char32_t code);

/// Tracks the current cluster, so that the next character can join it.
class ClusterState {
 public:
  /// No cluster: the next character starts a cell.
  void reset() { previous_ = 0; }

  /// A plain character was written.
  void restart(char32_t code) {
    previous_ = code;
    state_ = 0;
  }

  /// True when `code` belongs to the current cluster; `code` is the last character afterwards.
  bool joins(char32_t code);

  [[nodiscard]] bool empty() const { return previous_ == 0; }

 private:
  char32_t previous_ = 0;
  std::int32_t state_ = 0;
};

}  // namespace relay::terminal
