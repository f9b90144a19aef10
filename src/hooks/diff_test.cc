#include "hooks/diff.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace relay::hooks {
namespace {

std::string numbers(int from, int to) {
  std::string out;
  for (int i = from; i <= to; ++i) out += format("{}\n", i);
  return out;
}

TEST(Diff, IsEmptyForEqualTexts) { EXPECT_EQ(unified_diff("a\n", "a\n", "f"), ""); }

TEST(Diff, ShowsThreeLinesOfContext) {
  EXPECT_EQ(unified_diff(numbers(1, 20), numbers(1, 9) + "new\n" + numbers(10, 20), "/f"),
            "--- /f\n+++ /f\n@@ -7,6 +7,7 @@\n 7\n 8\n 9\n+new\n 10\n 11\n 12\n");
}

TEST(Diff, SeparatesDistantChanges) {
  const auto before = numbers(1, 30);
  const auto after = "0\n" + numbers(1, 19) + numbers(21, 30);
  EXPECT_EQ(unified_diff(before, after, "f"),
            "--- f\n+++ f\n@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -17,7 +18,6 @@\n 17\n 18\n 19\n-20\n 21\n 22\n 23\n");
}

TEST(Diff, NewFileComesFromDevNull) {
  EXPECT_EQ(unified_diff("", "a\nb\n", "f"), "--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n");
  EXPECT_EQ(unified_diff("a\n", "", "f"), "--- f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
}

TEST(Diff, MarksMissingLastNewline) {
  EXPECT_EQ(unified_diff("a", "a\n", "f"), "--- f\n+++ f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
}

TEST(Diff, ShowsLargeChangeAsReplacement) {
  const auto size = static_cast<int>(kMaxDiffLines);
  const auto diff = unified_diff(numbers(1, size), numbers(size + 1, 2 * size), "f");
  EXPECT_TRUE(diff.starts_with("--- f\n+++ f\n@@ -1,600 +1,600 @@\n-1\n"));
}

}  // namespace
}  // namespace relay::hooks
