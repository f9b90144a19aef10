#include "store/text_search.h"

#include <gtest/gtest.h>

namespace relay::store {
namespace {

TEST(SearchQueryTest, RequiresEveryPieceInAnyOrder) {
  EXPECT_TRUE(SearchQuery{"green build"}.matches("The build is GREEN."));
  EXPECT_FALSE(SearchQuery{"green build red"}.matches("The build is GREEN."));
}

TEST(SearchQueryTest, MatchesPrefixesOfWordsOnly) {
  EXPECT_TRUE(SearchQuery{"buil"}.matches("builds"));
  EXPECT_FALSE(SearchQuery{"uild"}.matches("builds"));
}

TEST(SearchQueryTest, KeepsHyphenatedWordsTogether) {
  EXPECT_TRUE(SearchQuery{"foo-bar"}.matches("a foo bar"));
  EXPECT_FALSE(SearchQuery{"foo-bar"}.matches("bar foo"));
}

TEST(SearchQueryTest, EmptySearchMatchesNothing) {
  EXPECT_TRUE(SearchQuery{" *?! "}.empty());
  EXPECT_FALSE(SearchQuery{"..."}.matches("anything"));
}

TEST(SearchQueryTest, QuotesFullTextExpression) {
  EXPECT_EQ(SearchQuery{"a\"b OR NEAR(x)"}.full_text_expression(), R"("a b"* AND "or"* AND "near x"*)");
}

TEST(SearchQueryTest, IgnoresWordsBeyondTheLimit) {
  std::string typed;
  for (int word = 0; word < 10'000; ++word) typed += "a-b ";
  EXPECT_LE(SearchQuery{typed}.full_text_expression().size(), kMaxSearchWords * 10);
}

TEST(SearchQueryTest, ReadsTheBodyOfAPayload) {
  EXPECT_EQ(body_text(R"({"body":"caf\u00e9","data":{"body":"no"}})"), "caf\xc3\xa9");
  EXPECT_EQ(body_text(R"({"body":7})"), "");
  EXPECT_EQ(body_text("not json"), "");
}

}  // namespace
}  // namespace relay::store
