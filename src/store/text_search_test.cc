#include "store/text_search.h"

#include <gtest/gtest.h>

namespace relay::store {
namespace {

TEST(MessageWords, WantsEveryPieceInAnyOrder) {
  EXPECT_TRUE(SearchQuery{"green build"}.matches("The build is GREEN."));
  EXPECT_FALSE(SearchQuery{"green build red"}.matches("The build is GREEN."));
}

TEST(MessageWords, TakesBeginningsOfWordsOnly) {
  EXPECT_TRUE(SearchQuery{"buil"}.matches("builds"));
  EXPECT_FALSE(SearchQuery{"uild"}.matches("builds"));
}

TEST(MessageWords, KeepsHyphenatedWordsTogether) {
  EXPECT_TRUE(SearchQuery{"foo-bar"}.matches("a foo bar"));
  EXPECT_FALSE(SearchQuery{"foo-bar"}.matches("bar foo"));
}

TEST(MessageWords, FitsNothingWhenNothingWasSaid) {
  EXPECT_TRUE(SearchQuery{" *?! "}.empty());
  EXPECT_FALSE(SearchQuery{"..."}.matches("anything"));
}

TEST(MessageWords, QuotesWhatItAsksTheIndex) {
  EXPECT_EQ(SearchQuery{"a\"b OR NEAR(x)"}.full_text_expression(), R"("a b"* AND "or"* AND "near x"*)");
}

TEST(MessageWords, IgnoresWordsBeyondTheLimit) {
  std::string typed;
  for (int word = 0; word < 10'000; ++word) typed += "a-b ";
  EXPECT_LE(SearchQuery{typed}.full_text_expression().size(), kMaxSearchWords * 10);
}

TEST(MessageWords, ReadsTheBodyOfAPayload) {
  EXPECT_EQ(body_text(R"({"body":"caf\u00e9","data":{"body":"no"}})"), "caf\xc3\xa9");
  EXPECT_EQ(body_text(R"({"body":7})"), "");
  EXPECT_EQ(body_text("not json"), "");
}

}  // namespace
}  // namespace relay::store
