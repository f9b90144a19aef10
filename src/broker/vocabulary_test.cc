#include "broker/vocabulary.h"

#include <gtest/gtest.h>

#include <string>

#include "base/format.h"

namespace relay::broker {
namespace {

TextNovelty read(std::string_view text) { return Vocabulary{}.read(text); }

TEST(Vocabulary, IgnoresCasePunctuationAndWhiteSpace) {
  const auto fingerprint = read("Thanks again, Bob!").fingerprint;
  EXPECT_EQ(read("  thanks   AGAIN (bob)...").fingerprint, fingerprint);
  EXPECT_EQ(read(R"(\tThanks\nagain, \"Bob\"!\n)").fingerprint, fingerprint);
  EXPECT_EQ(read("Thanks again \u2014 Bob! \U0001F389").fingerprint, fingerprint);
  EXPECT_EQ(read(R"(Thanks again \u2014 Bob! \ud83c\udf89)").fingerprint, fingerprint);
  EXPECT_NE(read("Thanks Bob again!").fingerprint, fingerprint);
  EXPECT_NE(read("Thanks again, Bobby!").fingerprint, fingerprint);
}

TEST(Vocabulary, ReadsEscapedCharacters) {
  EXPECT_EQ(read("Sch\u00f6ne Gr\u00fc\u00dfe").fingerprint, read(R"(Sch\u00f6ne Gr\u00fc\u00dfe)").fingerprint);
  EXPECT_EQ(read("Sch\u00f6ne Gr\u00fc\u00dfe").new_words, 2U);
  EXPECT_EQ(read("\u6536\u5230\uff0c\u8c22\u8c22").new_words, read(R"(\u6536\u5230\uff0c\u8c22\u8c22)").new_words);
}

TEST(Vocabulary, SeparatesWordsNamesAndNumbers) {
  const TextNovelty reading =
      read("the parser in src/net/framer.cc calls read_frame() 17 times, see v1.2.3, and so on");
  EXPECT_EQ(reading.new_words, 3U);  // parser, calls, times
  EXPECT_EQ(reading.new_names, 2U);
  EXPECT_EQ(reading.new_numbers, 2U);
}

TEST(Vocabulary, ForgetsOldTurns) {
  Vocabulary vocabulary;
  EXPECT_EQ(vocabulary.read("remember").new_words, 1U);
  EXPECT_EQ(vocabulary.read("remember").new_words, 0U);
  for (unsigned turn = 0; turn <= Vocabulary::kFilters * Vocabulary::kTurnsEach; ++turn) vocabulary.next_turn();
  EXPECT_EQ(vocabulary.read("remember").new_words, 1U);
}

TEST(Vocabulary, NeverFillsUp) {
  Vocabulary vocabulary;
  unsigned repeated = 0;
  constexpr unsigned kMany = 20'000;
  for (unsigned i = 0; i < kMany; ++i) {
    std::string word = "word";
    for (unsigned rest = i; rest > 0; rest /= 26) word += static_cast<char>('a' + rest % 26);
    word += "end";
    repeated += 1 - vocabulary.read(word).new_words;
  }
  EXPECT_LT(repeated, kMany / 20);
}

TEST(Vocabulary, ReadsTruncatedText) {
  const std::string text =
      "Some w\u00f6rds, \\u00fcber (all) and_more/of.it 12 \\n\\\"quoted\\\" \u6536 \U0001F389 end\\";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::string exact = text.substr(0, size);  // its own memory, so that reading past the end is detected
    EXPECT_EQ(read(exact).fingerprint, read(std::string_view{text}.substr(0, size)).fingerprint) << size;
  }
}

TEST(Vocabulary, ReadsAnyBytes) {
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      const std::string text{'x', static_cast<char>(a), static_cast<char>(b)};
      read(text);
      read("\\" + text);
    }
  }
  EXPECT_EQ(read(std::string(1 << 20, 'x')).fingerprint, read(std::string(Vocabulary::kReadBytes, 'x')).fingerprint);
}

}  // namespace
}  // namespace relay::broker
