#include "scripted_agent/wrap.h"

#include <gtest/gtest.h>

namespace relay::scripted_agent {
namespace {

using Lines = std::vector<std::string>;

TEST(Wrap, BreaksAtSpacesAndIndents) {
  EXPECT_EQ(wrap("one two three", 9, "● ", "  "), (Lines{"● one two", "  three"}));
  EXPECT_EQ(wrap("a\nb", 9, "● ", "  "), (Lines{"● a", "  b"}));
  EXPECT_EQ(wrap("", 9, "● ", "  "), (Lines{"● "}));
}

TEST(Wrap, CutsLongWords) {
  EXPECT_EQ(wrap("abcdefgh", 5, "", ""), (Lines{"abcde", "fgh"}));
  EXPECT_EQ(wrap("äöüß", 2, "", ""), (Lines{"äö", "üß"}));
  EXPECT_EQ(wrap("ab", 0, "", ""), (Lines{"a", "b"}));
}

TEST(Wrap, CountsColumns) {
  EXPECT_EQ(width("日本"), 4U);
  EXPECT_EQ(width("ก็"), 1U) << "the mark above combines";
  EXPECT_EQ(wrap("日本語", 5, "", ""), (Lines{"日本", "語"}));
  EXPECT_EQ(wrap("日本", 1, "", ""), (Lines{"日", "本"})) << "without room it still ends";
  EXPECT_EQ(tail("日本", 3), "本");
  EXPECT_EQ(width("a\xff"), 2U);
}

TEST(Wrap, ReturnsTail) {
  EXPECT_EQ(tail("äöü", 2), "öü");
  EXPECT_EQ(tail("ab", 5), "ab");
}

}  // namespace
}  // namespace relay::scripted_agent
