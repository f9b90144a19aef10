#include "base/nearest.h"

#include <gtest/gtest.h>

#include <string>

namespace relay {
namespace {

using Names = std::vector<std::string_view>;

TEST(NearestNames, FindMistypedName) {
  const Names known = {"Alice", "Alicia", "Bob", "codex-1", "codex-2", "Reviewer"};
  EXPECT_EQ(nearest_names("alice", known), (Names{"Alice"}));
  EXPECT_EQ(nearest_names("Alcie", known), (Names{"Alice"}));
  EXPECT_EQ(nearest_names("Bbo", known), (Names{"Bob"}));
  EXPECT_EQ(nearest_names("codex-3", known), (Names{"codex-1", "codex-2"}));
  EXPECT_EQ(nearest_names("Reveiwr", known), (Names{"Reviewer"}));
}

TEST(NearestNames, ReturnNothingWhenNoNameIsNear) {
  const Names known = {"Alice", "Bob"};
  EXPECT_TRUE(nearest_names("Zebra", known).empty());
  EXPECT_TRUE(nearest_names("", known).empty());
  EXPECT_TRUE(nearest_names(std::string(10'000, 'a'), known).empty());
  EXPECT_TRUE(nearest_names("Alice", {}).empty());
}

TEST(NearestNames, ReturnAtMostMaxNames) {
  const Names known = {"ab1", "ab2", "ab3", "ab4"};
  EXPECT_EQ(nearest_names("ab0", known, 2), (Names{"ab1", "ab2"}));
}

TEST(NearestNames, CompareBoundedNumberOfNames) {
  Names names(kMaxNamesCompared, "another-name");
  names.push_back("Alice");
  EXPECT_TRUE(nearest_names("Alic", names).empty());
}

}  // namespace
}  // namespace relay
