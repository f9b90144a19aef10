#include "activity/diff.h"

#include <gtest/gtest.h>

#include "events/work_events.h"

namespace relay::activity {
namespace {

TEST(Diff, ShowsTheReplacedLinesWithContext) {
  const auto diff = diff_between("a\nb\nc\nd\nold\ne\nf\ng\nh\n", "a\nb\nc\nd\nnew\nmore\ne\nf\ng\nh\n");
  EXPECT_EQ(diff.text, "@@ -2,7 +2,8 @@\n b\n c\n d\n-old\n+new\n+more\n e\n f\n g\n");
  EXPECT_EQ(diff.lines_changed, 3);
}

TEST(Diff, ShowsANewTextAsAdded) {
  EXPECT_EQ(diff_between("", "one\ntwo").text, "@@ -0,0 +1,2 @@\n+one\n+two\n");
  EXPECT_EQ(diff_between("one\n", "").text, "@@ -1,1 +0,0 @@\n-one\n");
  EXPECT_EQ(diff_between("", "").text, "");
  EXPECT_EQ(diff_between("same\n", "same\n").lines_changed, 0);
}

TEST(Diff, CountsRepeatedTextOnce) {
  EXPECT_EQ(diff_between("x\nx\n", "x\nx\nx\n").text, "@@ -1,2 +1,3 @@\n x\n x\n+x\n");
}

TEST(Diff, RemovesFileHeadersOfAForeignDiff) {
  const auto diff = diff_from(
      "Index: a.txt\n=====\n--- a.txt\tOriginal\n+++ a.txt\tWritten\n@@ -1,2 +1,2 @@\n keep\n--- old\n+++ new\n");
  EXPECT_EQ(diff.text, "@@ -1,2 +1,2 @@\n keep\n--- old\n+++ new\n");
  EXPECT_EQ(diff.lines_changed, 2);
}

TEST(Diff, IsTruncatedBetweenCharactersAndCountedWhole) {
  std::string many;
  for (int i = 0; i < 40'000; ++i) many += "äö\n";
  const auto diff = diff_between("", many);
  EXPECT_LE(diff.text.size(), static_cast<std::size_t>(events::kMaxContentBytes));
  EXPECT_EQ(diff.lines_changed, 40'000);
  EXPECT_EQ(diff_from("@@ -0,0 +1 @@\n" + diff.text).lines_changed > 10'000, true);
}

}  // namespace
}  // namespace relay::activity
