/// Counts the words of a message that recent messages did not contain, without storing any text.
///
/// A word is text between white space, without case and surrounding punctuation; one that contains a digit is a number
/// (also ids, versions, times). Words of fewer than kLongWord characters count for the fingerprint only, because every
/// conversation is full of them. In scripts without spaces each character is a word. Emoji and dashes are separators.
/// Why several small Bloom filters: words must be forgotten after a while, and a filter must not fill up, because a
/// full one contains every word. When the newest filter has had its turns or its words, the oldest is cleared and
/// becomes the newest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace relay::broker {

struct TextNovelty {
  std::uint64_t fingerprint = 0;  // equal for the same words in the same order
  unsigned new_words = 0;         // long ones
  unsigned new_names = 0;         // of files, functions, addresses: long words with `_`, `.`, `/`, `:` or `@` inside
  unsigned new_numbers = 0;
};

/// The words of the newest messages of one conversation.
class Vocabulary {
 public:
  static constexpr unsigned kLongWord = 5;
  static constexpr std::size_t kReadBytes = 2'048;  // of a body; the rest is ignored
  static constexpr std::size_t kFilters = 4;
  static constexpr unsigned kTurnsEach = 4;    // so the filters contain the last 12 to 16 turns,
  static constexpr unsigned kWordsEach = 128;  // or the last 384 to 512 words; then the false positive rate is 1 in 20
  static constexpr std::size_t kBits = 2'048;

  /// Reads raw JSON string content (escaped or not) and adds its words.
  TextNovelty read(std::string_view body);
  /// The next message is from another sender.
  void next_turn();

 private:
  static constexpr std::size_t kCells = kBits / 64;
  using Filter = std::array<std::uint64_t, kCells>;

  bool add(std::uint64_t word);
  void clear_oldest();

  std::array<Filter, kFilters> filters_{};
  std::size_t newest_ = 0;
  unsigned words_ = 0;  // in the newest
  unsigned turns_ = 0;
};

}  // namespace relay::broker
