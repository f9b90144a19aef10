#include "commands/visual_skeleton.h"

#include <gtest/gtest.h>

namespace relay::commands {
namespace {

TEST(VisualSkeleton, BlanksOfAnyWidthAreOne) {
  EXPECT_EQ(visual_skeleton("a\u00a0\u2003\u3000\t b\u2800c"), "a b c");
  EXPECT_EQ(visual_skeleton("a\u200b\u2060\ufeff\u00ad\u180e\u0301b"), "ab") << "invisible characters";
}

TEST(VisualSkeleton, MapsCharactersToLookAlikes) {
  EXPECT_EQ(visual_skeleton("Ｒｅｌａｙ！"), "Relay!");
  EXPECT_EQ(visual_skeleton("𝑅𝚎𝓁𝖺𝐲 ⓡⒺ"), "Relay rE");
  EXPECT_EQ(visual_skeleton("Rеlаy mеѕѕаɡе frοm"), "Relay message from");
}

TEST(VisualSkeleton, KeepsOtherCharacters) {
  EXPECT_EQ(visual_skeleton("plain: 1 [x] \"y\""), "plain: 1 [x] \"y\"");
  EXPECT_EQ(visual_skeleton("日本 ü ● \xff"), "日本 ü ● \xff");
  EXPECT_EQ(visual_skeleton(""), "");
}

}  // namespace
}  // namespace relay::commands
