#include "cli/render/text.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace relay::cli {
namespace {

TEST(Sanitize, ShowsControlCharacters) {
  EXPECT_EQ(sanitize("\x1b]0;owned\x07", Lines::Join), "^[]0;owned^G");
  EXPECT_EQ(sanitize("a\x7f", Lines::Join), "a^?");
  EXPECT_EQ(sanitize("\xc2\x9b"
                     "31m",
                     Lines::Keep),
            "\\u009b31m")
      << "the one-character form of ESC [";
  EXPECT_EQ(sanitize("abc\xe2\x80\xae"
                     "fdp.exe",
                     Lines::Join),
            "abc\\u202efdp.exe")
      << "text is not turned around";
}

TEST(EscapedJson, HasNoTerminalControlCharacter) {
  const std::string json = "{\"text\":\"a\x7f\xc2\x9b[2Jb\xc2\xa0\u00fc\"}";
  EXPECT_EQ(escaped_json(json), "{\"text\":\"a\\u007f\\u009b[2Jb\xc2\xa0\u00fc\"}");
  EXPECT_EQ(escaped_json("{\"plain\":1}\n"), "{\"plain\":1}\n");
  const std::string unseen = "{\"text\":\"a\u202eb\U000E0041c\"}";
  EXPECT_EQ(escaped_json(unseen), "{\"text\":\"a\\u202eb\\udb40\\udc41c\"}");
  EXPECT_EQ(parse_json_object(escaped_json(unseen)).value(), parse_json_object(unseen).value());
  EXPECT_EQ(parse_json_object(escaped_json(json)).value(), parse_json_object(json).value()) << "the same value";
}

TEST(Sanitize, KeepsOrJoinsLines) {
  EXPECT_EQ(sanitize("a\n\tb", Lines::Keep), "a\n\tb");
  EXPECT_EQ(sanitize("a\r\nb", Lines::Join), "a b");
}

TEST(Sanitize, KeepsTextOfEveryLanguage) { EXPECT_EQ(sanitize("grüße, 世界 🎉", Lines::Join), "grüße, 世界 🎉"); }

TEST(Sanitize, ReplacesInvalidUtf8) {
  EXPECT_EQ(sanitize("a\xff"
                     "b",
                     Lines::Join),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(sanitize("\xed\xa0\x80", Lines::Join), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd") << "half a surrogate";
  EXPECT_EQ(sanitize("\xc0\xaf", Lines::Join), "\xef\xbf\xbd\xef\xbf\xbd") << "an overlong slash";
  EXPECT_EQ(sanitize("\xe2\x82", Lines::Join), "\xef\xbf\xbd\xef\xbf\xbd") << "cut short";
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("grüße"), 5U);
  EXPECT_EQ(display_width("世界"), 4U);
  EXPECT_EQ(display_width("e\xcc\x81"), 1U) << "a combining accent";
}

TEST(Truncate, CutsBetweenCharactersWithEllipsis) {
  EXPECT_EQ(truncate("hello", 5), "hello");
  EXPECT_EQ(truncate("hello!", 5), "hell…");
  EXPECT_EQ(truncate("世界世界", 5), "世界…");
}

TEST(Wrap, BreaksAtSpacesAndInLongWords) {
  EXPECT_EQ(wrap("the composer holds a draft", 12), (std::vector<std::string>{"the composer", "holds a", "draft"}));
  EXPECT_EQ(wrap("abcdefgh ij", 4), (std::vector<std::string>{"abcd", "efgh", "ij"}));
  EXPECT_EQ(wrap("世界世界", 5), (std::vector<std::string>{"世界", "世界"}));
  EXPECT_EQ(wrap("", 10), std::vector<std::string>{""});
  EXPECT_EQ(wrap("(one|two|three)", 10), (std::vector<std::string>{"(one|two|", "three)"}));
  EXPECT_EQ(wrap("at /home/ann/projects", 11), (std::vector<std::string>{"at", "/home/ann/", "projects"}));
}

TEST(Fold, BreaksAtSpacesAndIndentsRest) {
  EXPECT_EQ(fold("agent-relay: the daemon is not running; start it", 24),
            "agent-relay: the daemon\n  is not running; start\n  it");
  EXPECT_EQ(fold("one\n  two words here\n", 9), "one\n  two\n    words\n    here\n") << "by the line's own margin";
  EXPECT_EQ(fold("at /a/path/that/is/long, now", 8), "at /a/path/that/is/long, now") << "a path stays whole";
  EXPECT_EQ(fold("at /a/path/that/is/very/long later", 8), "at /a/path/that/is/very/long\n  later");
  EXPECT_EQ(fold("choose accepted|delivered|seen", 18), "choose accepted|\n  delivered|seen");
  EXPECT_EQ(fold("sent to Bob  7kq2", 80), "sent to Bob  7kq2");
  EXPECT_EQ(fold("世界 世界 世界", 9), "世界 世界\n  世界");
  EXPECT_EQ(fold("as it is, however long", 0), "as it is, however long");
  const Styler paint{true};
  EXPECT_EQ(fold("a " + paint(Color::Red, "b c"), 5), "a " + paint(Color::Red, "b c")) << "colours take no room";
}

TEST(TableTest, WrapsStyledText) {
  const Styler paint{true};
  Table columns{{}};
  columns.add({"disk", paint(Color::Red, "nearly full") + "; remove something soon"});
  EXPECT_EQ(columns.text(paint, 30), "disk  " + paint(Color::Red, "nearly full") + "; remove\n      something soon\n");
}

TEST(TableTest, AlignsWideCharacters) {
  Table columns{{"NAME", "STATUS"}};
  columns.add({"Zoë", "yes"});
  columns.add({"世界世界", "no"});
  EXPECT_EQ(columns.text(Styler{false}), "NAME      STATUS\nZoë       yes\n世界世界  no\n");
}

TEST(StylerTest, WritesNoEscapesWithoutATerminal) {
  EXPECT_EQ(Styler{false}(Color::Red, "x"), "x");
  EXPECT_EQ(Styler{true}(Color::Red, "x"), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(Styler{true}.name("Alice"), Styler{true}.name("Alice"));
}

TEST(TableTest, WrapsLastColumnOnNarrowTerminal) {
  Table columns{{"NAME", "PENDING"}};
  columns.add({"Alice", "3: the agent is working on something long"});
  columns.add({"Bob", "-"});
  EXPECT_EQ(columns.text(Styler{false}, 30),
            "NAME   PENDING\nAlice  3: the agent is working\n       on something long\nBob    -\n");
  EXPECT_EQ(columns.text(Styler{false}, 80), columns.text(Styler{false}));
}

TEST(TableTest, StacksCellsOnVeryNarrowTerminal) {
  Table columns{{"NAME", "STATUS", "PENDING"}};
  columns.add({"a-name-of-thirty-columns-or-so", "yes", "3: the agent is working"});
  const auto text = columns.text(Styler{false}, 40);
  EXPECT_EQ(text, "a-name-of-thirty-columns-or-so\n    status yes, pending 3: the agent is\n    working\n");
}

TEST(Marks, AreAsciiForAsciiLocale) {
  EXPECT_EQ(marks().arrow, "→");
  set_marks(kAsciiMarks);
  EXPECT_EQ(truncate("hello world", 8), "hello...");
  EXPECT_EQ(marks().arrow, "->");
  set_marks({});
}

}  // namespace
}  // namespace relay::cli
