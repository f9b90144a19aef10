#include "speech/look_alikes.h"

#include <gtest/gtest.h>

namespace relay::speech {
namespace {

TEST(LookAlikes, BlanksOfAnyWidthAreOne) {
  EXPECT_EQ(as_seen("a\u00a0\u2003\u3000\t b\u2800c"), "a b c");
  EXPECT_EQ(as_seen("a\u200b\u2060\ufeff\u00ad\u180e\u0301b"), "ab") << "what nobody sees";
}

TEST(LookAlikes, LettersAreWhatTheyLookLike) {
  EXPECT_EQ(as_seen("Ｒｅｌａｙ！"), "Relay!");
  EXPECT_EQ(as_seen("𝑅𝚎𝓁𝖺𝐲 ⓡⒺ"), "Relay rE");
  EXPECT_EQ(as_seen("Rеlаy mеѕѕаɡе frοm"), "Relay message from");
}

TEST(LookAlikes, EverythingElseStands) {
  EXPECT_EQ(as_seen("plain: 1 [x] \"y\""), "plain: 1 [x] \"y\"");
  EXPECT_EQ(as_seen("日本 ü ● \xff"), "日本 ü ● \xff");
  EXPECT_EQ(as_seen(""), "");
}

}  // namespace
}  // namespace relay::speech
