#include "terminal/viewport.h"

#include <gtest/gtest.h>

#include "terminal/screen.h"

namespace relay::terminal {
namespace {

/// A terminal that draws a viewport.
struct ViewportTest : testing::Test {
  Screen program{{20, 4}};
  Screen display{{20, 4}};
  Viewport window{{20, 4}};

  void SetUp() override { display.feed(Viewport::opening()); }
  void paint() { display.feed(window.paint(program)); }
  std::string row(int index) const { return display.grid().text(index); }
};

TEST_F(ViewportTest, ShowsTheWholeScreenOnATerminalOfTheSameSize) {
  program.feed("one\r\n\x1b[1;31mtwo\x1b[0m\r\n\xe6\xbc\xa2\xe5\xad\x97\x1b[?2004h\x1b[?1000h\x1b[?1006h");
  paint();
  for (int index = 0; index < 4; ++index) EXPECT_TRUE(display.grid().row(index).same_cells(program.grid().row(index)));
  EXPECT_EQ(display.cursor().row, program.cursor().row);
  EXPECT_EQ(display.cursor().column, program.cursor().column);
  EXPECT_TRUE(display.modes().bracketed_paste);
  EXPECT_EQ(display.modes().mouse, program.modes().mouse);
  EXPECT_EQ(display.modes().mouse_encoding, program.modes().mouse_encoding);
}

TEST_F(ViewportTest, KeepsTheLastColumn) {
  program.feed("12345678901234567890\x1b[2;20Hx");
  paint();
  EXPECT_EQ(row(0), "12345678901234567890");
  EXPECT_EQ(row(1), "                   x");
}

TEST_F(ViewportTest, DrawsOnlyChanges) {
  program.feed("one\r\ntwo");
  paint();
  EXPECT_EQ(window.paint(program), "");
  program.feed("!");
  const auto bytes = window.paint(program);
  EXPECT_EQ(bytes.find("one"), std::string::npos);
  EXPECT_NE(bytes.find("two!"), std::string::npos);
}

TEST_F(ViewportTest, CutsTheScreenAndFollowsTheCursor) {
  window.resize({5, 2});
  display.resize({5, 2});
  program.feed("1\r\n2\r\n3 and more\r\nab\xe6\xbc\xa2\xe5\xad\x97");
  paint();
  EXPECT_EQ(window.rows_above(), 2);
  EXPECT_EQ(row(0), "3 and");
  EXPECT_EQ(row(1), "ab\xe6\xbc\xa2") << "half a wide character is not drawn";
  program.feed("\x1b[H");
  paint();
  EXPECT_EQ(row(0), "1");
}

TEST_F(ViewportTest, NoticeCoversTheLastRowUntilCleared) {
  program.feed("a\r\nb\r\nc\r\nd");
  window.set_notice("leave with Ctrl-]");
  paint();
  EXPECT_EQ(row(3), "leave with Ctrl-]");
  window.set_notice("");
  paint();
  EXPECT_EQ(row(3), "d");
}

TEST_F(ViewportTest, ANoticeDoesNotCoverTheRowOfTheCursor) {
  Screen screen{Size{.columns = 20, .rows = 6}};
  screen.feed("one\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix");
  for (const int rows : {4, 6}) {
    Viewport small{Size{.columns = 20, .rows = rows}};
    small.set_notice("watching");
    const auto bytes = small.paint(screen);
    EXPECT_TRUE(bytes.contains("six") && bytes.contains("watching")) << rows;
    EXPECT_EQ(small.rows_above(), 6 - rows + 1);
  }
}

TEST_F(ViewportTest, RestoresTheTerminal) {
  Screen before{{20, 4}};
  before.feed("prompt$ ");
  Screen terminal{{20, 4}};
  terminal.feed("prompt$ ");
  terminal.feed(Viewport::opening());
  program.feed("x\x1b[?2004h\x1b[?1003h\x1b[>1u\x1b[?1h\x1b=\x1b[3 q\x1b[?25l");
  terminal.feed(window.paint(program));
  terminal.feed(Viewport::closing());
  EXPECT_EQ(terminal.grid().text(0), "prompt$");
  EXPECT_EQ(terminal.modes(), before.modes());
}

}  // namespace
}  // namespace relay::terminal
