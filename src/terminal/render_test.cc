#include "terminal/render.h"

#include <gtest/gtest.h>

#include "terminal/testing/generated_stream.h"
#include "terminal/testing/screens.h"

namespace relay::terminal {
namespace {

using namespace testing;

void expect_redrawn(const Screen& screen) {
  Screen copy{screen.size()};
  copy.feed(render(screen));
  EXPECT_EQ(copy, screen);
}

TEST(Render, DrawsTextStylesAndCursor) {
  expect_redrawn(screen_after("plain \x1b[1;3;4:3;38;5;200;48;2;1;2;3mfancy\x1b[0m\r\n\x1b[44m\x1b[K\x1b[0m\x1b[3;4H"));
}

TEST(Render, KeepsWrappedRowsAndAPendingWrap) {
  expect_redrawn(screen_after("0123456789abcdefghij"));
  expect_redrawn(screen_after("01234567中文字x\x1b[1;1H"));
  expect_redrawn(screen_after("012345678中"));
  expect_redrawn(screen_after("\x1b[31m0123456789\x1b[32m"));
}

TEST(Render, SeparatesNeighborsThatWouldJoin) {
  const Screen screen = screen_after("\x1b[1;3H🇪\x1b[1;1H🇩");
  EXPECT_EQ(screen.grid().row(0).cell_text(0), "🇩");
  expect_redrawn(screen);
}

TEST(Render, RestoresBothScreensAndTheSavedCursor) {
  Screen screen = screen_after("primary\x1b[2;3H\x1b[32m\x1b[?1049h\x1b[Halternate\x1b[2;4r\x1b[3;2H");
  expect_redrawn(screen);
  Screen copy{screen.size()};
  copy.feed(render(screen));
  copy.feed("\x1b[?1049lx");
  screen.feed("\x1b[?1049lx");
  EXPECT_EQ(copy, screen);
}

TEST(Render, RestoresModesTitleTabsCharsetsAndKeyboards) {
  expect_redrawn(
      screen_after("\x1b[?1;5;45;1003;1006;1004;2004;2026h\x1b[?7;25l\x1b[4h\x1b[20h\x1b=\x1b[5 q\x1b[>4;1m"
                   "\x1b]0;title\a\x1b[3g\x1b[4G\x1bH\x1b)0\x0e\x1b[>1u\x1b[>5u\x1b[?1049h\x1b[=3u"));
  expect_redrawn(
      screen_after("\x1b[2;3r\x1b[?6h\x1b[2;2H\x1b"
                   "7\x1b[1;1H"));
}

TEST(Render, DrawsGeneratedScreens) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SeededRandom random{seed};
    const Size size{static_cast<int>(8 + random.below(30)), static_cast<int>(3 + random.below(8))};
    Screen screen = screen_after(generated_stream(random, size, 60, Vocabulary::Full) + "\x18", size);
    Screen copy{size};
    copy.feed(render(screen));
    ASSERT_EQ(copy, screen) << "seed " << seed;
  }
}

TEST(RestoreSequence, ResetsModesOfAProgram) {
  Screen screen = screen_after(
      "\x1b[>1u\x1b[?1049h\x1b[?1;5;1000;1006;1004;2004;2026;2031;2048h\x1b[?7;25l\x1b[4h\x1b=\x1b[5 q"
      "\x1b[>4;2m\x1b[>5u\x1b[2;3r\x1b[?6h\x1b(0\x1b[1;31m");
  screen.feed(restore_sequence(screen));
  EXPECT_EQ(screen.modes(), Modes{});
  EXPECT_FALSE(screen.alternate());
  screen.feed("\x1b[Hq\x1b[4;1H\n");
  EXPECT_EQ(screen.grid().row(0).cell(0).style(), Style{});
  EXPECT_EQ(screen.scrollback().end(), 1u) << "the whole screen scrolls again";
  EXPECT_EQ(screen.scrollback().row(0)->text, "q");
}

TEST(RestoreSequence, PopsOnlyTheKeyboardFlagsOfThisProgram) {
  EXPECT_EQ(restore_sequence(screen_after("")).find('u'), std::string::npos);
  EXPECT_NE(restore_sequence(screen_after("\x1b[>1u\x1b[>5u")).find("\x1b[<2u"), std::string::npos);
}

TEST(RestoreSequence, KeepsTheCursor) {
  Screen screen = screen_after("one\r\ntwo");
  screen.feed(restore_sequence(screen));
  EXPECT_EQ(screen.cursor(), (Cursor{.row = 1, .column = 3}));
}

}  // namespace
}  // namespace relay::terminal
