/// What a text adds to what was said before it, measured in words, without keeping any text.
///
/// A word is what stands between white space, without case and without punctuation around it; one with a digit in it is
/// a number (so are ids, versions, times). Words of fewer than kLongWord signs are part of the print only: all talk is
/// full of them. Signs of scripts that do not part words count each. Emoji and dashes part
/// words and say nothing.
/// Why small filters in turn: what was said is to be forgotten after a while, and a filter may not fill up, for a full
/// one knows every word and would call honest talk stale. The oldest goes when the youngest has had its turns or its
/// words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace relay::broker {

struct TextNovelty {
  std::uint64_t print = 0;  // the same for the same words in the same order
  unsigned new_words = 0;   // long ones
  unsigned new_names = 0;   // of files, functions, addresses: long words with `_`, `.`, `/`, `:` or `@` inside
  unsigned new_numbers = 0;
};

/// The words of the newest messages of one conversation.
class Vocabulary {
 public:
  static constexpr unsigned kLongWord = 5;
  static constexpr std::size_t kReadBytes = 2'048;  // of a body; what follows is not looked at
  static constexpr std::size_t kFilters = 4;
  static constexpr unsigned kTurnsEach = 4;  // so the last 12 to 16 turns are remembered,
  static constexpr unsigned kWordsEach =
      128;  // or the last 384 to 512 words; when all are full, 1 in 20 is taken for known
  static constexpr std::size_t kBits = 2'048;

  /// Reads the raw text of a JSON string (escaped or not) and learns its words.
  TextNovelty read(std::string_view body);
  /// Somebody else speaks.
  void next_turn();

 private:
  static constexpr std::size_t kCells = kBits / 64;
  using Filter = std::array<std::uint64_t, kCells>;

  bool learn(std::uint64_t word);
  void forget_oldest();

  std::array<Filter, kFilters> filters_{};
  std::size_t young_ = 0;
  unsigned words_ = 0;  // in the youngest
  unsigned turns_ = 0;
};

}  // namespace relay::broker
