#include "text/invisible.h"

#include <gtest/gtest.h>

namespace relay::text {
namespace {

TEST(Invisible, CharactersAreShownAsMarks) {
  EXPECT_EQ(show_invisible("abc\u202efdp.exe"), "abc\\u202efdp.exe");
  EXPECT_EQ(show_invisible("a\u200bb\u2060c\ufeffd\u00ade"), "a\\u200bb\\u2060c\\ufeffd\\u00ade");
  EXPECT_EQ(show_invisible("hi\U000E0041\U000E0042"), "hi\\U000e0041\\U000e0042");
  EXPECT_EQ(show_invisible("x\U000E0100\u3164"), "x\\U000e0100\\u3164");
  EXPECT_EQ(show_invisible("a\u2066b\u2069\u061c"), "a\\u2066b\\u2069\\u061c");
}

TEST(Invisible, EmojiAndJoiningScriptsAreUnchanged) {
  for (const auto* text : {"👨\u200d👩\u200d👧", "❤\ufe0f", "1\ufe0f\u20e3", "🏳\ufe0f\u200d🌈", "می\u200cخواهم",
                           "क्\u200dष", "plain", "é 中"})
    EXPECT_EQ(show_invisible(text), text);
}

TEST(Invisible, StrayJoinersAreShown) {
  EXPECT_EQ(show_invisible("a\u200db"), "a\\u200db");
  EXPECT_EQ(show_invisible("❤\ufe0f\ufe0f"), "❤\ufe0f\\ufe0f") << "one after the other could spell anything";
  EXPECT_EQ(show_invisible("\u200c"), "\\u200c");
}

TEST(Invisible, MalformedBytesAreUnchanged) { EXPECT_EQ(show_invisible("a\xff\xc3"), "a\xff\xc3"); }

}  // namespace
}  // namespace relay::text
