#include "activity/patch.h"

#include <gtest/gtest.h>

namespace relay::activity {
namespace {

using transcripts::Change;

TEST(Patch, ReadsEveryKindOfChange) {
  const auto files = files_in_patch(
      "*** Begin Patch\n*** Add File: new.txt\n+one\n+two\n*** Update File: src/old.cc\n*** Move to: src/other.cc\n@@ "
      "int main\n"
      " keep\n-out\n+in\n*** End of File\n*** Delete File: removed.txt\n*** End Patch\nnot part of it\n*** Add File: "
      "no.txt\n");
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0].change, Change::Created);
  EXPECT_EQ(files[0].path, "new.txt");
  EXPECT_EQ(files[0].content, "one\ntwo\n");
  EXPECT_EQ(files[1].change, Change::Edited);
  EXPECT_EQ(files[1].moved_to, "src/other.cc");
  EXPECT_EQ(files[1].diff, "@@ int main\n keep\n-out\n+in\n");
  EXPECT_EQ(files[2].change, Change::Deleted);
  EXPECT_EQ(files[2].path, "removed.txt");
}

TEST(Patch, AcceptsAHunkWithoutHeader) {
  const auto files = files_in_patch("*** Begin Patch\r\n*** Update File: a.txt\r\n-x\n+y\n*** End Patch");
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].path, "a.txt");
  EXPECT_EQ(files[0].diff, "@@\n-x\n+y\n");
}

TEST(Patch, FindsNoFilesInOtherText) {
  for (const auto* text : {"", "*** Add File: a\n+x\n", "*** Begin Patch\n+x\n*** Move to: y\n", "*** Begin Patch"})
    EXPECT_TRUE(files_in_patch(text).empty()) << text;
}

TEST(Patch, IsBounded) {
  std::string many = "*** Begin Patch\n";
  for (int i = 0; i < 1'000; ++i) many += "*** Delete File: x\n";
  EXPECT_EQ(files_in_patch(many).size(), kMaxPatchedFiles);
}

}  // namespace
}  // namespace relay::activity
