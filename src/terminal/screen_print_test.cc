#include <gtest/gtest.h>

#include "terminal/logical_lines.h"
#include "terminal/testing/screens.h"

namespace relay::terminal {
namespace {

using namespace testing;
using Rows = std::vector<std::string>;

TEST(Print, WrapsAndMarksTheContinuedRow) {
  const Screen screen = screen_after("0123456789abc\r\nnext");
  EXPECT_EQ(rows_of(screen), (Rows{"0123456789", "abc", "next"}));
  EXPECT_TRUE(screen.grid().wrapped(0));
  EXPECT_FALSE(screen.grid().wrapped(1));
}

TEST(Print, AWrapIsPendingUntilTheNextCharacter) {
  const Screen screen = screen_after("0123456789");
  EXPECT_EQ(screen.cursor(), (Cursor{.row = 0, .column = 9, .wrap_pending = true}));
  EXPECT_EQ(rows_after("0123456789\r\nx"), (Rows{"0123456789", "x"}));
}

TEST(Print, ANewlineAfterAFullRowDoesNotJoinTheRows) {
  const Screen screen = screen_after("0123456789\r\nabc");
  EXPECT_FALSE(screen.grid().wrapped(0));
}

TEST(Print, WithoutAutowrapTheLastColumnIsOverwritten) {
  EXPECT_EQ(rows_after("\x1b[?7l0123456789abc"), (Rows{"012345678c"}));
}

TEST(Print, AWideCharacterTakesTwoColumns) {
  const Screen screen = screen_after("a中b");
  EXPECT_EQ(rows_of(screen), (Rows{"a中b"}));
  EXPECT_EQ(screen.grid().row(0).cell(1).columns(), 2);
  EXPECT_TRUE(screen.grid().row(0).cell(2).is_spacer());
  EXPECT_EQ(screen.cursor().column, 4);
}

TEST(Print, AWideCharacterThatDoesNotFitWrapsWhole) {
  const Screen screen = screen_after("012345678中x");
  EXPECT_EQ(rows_of(screen), (Rows{"012345678", "中x"}));
  EXPECT_TRUE(screen.grid().wrapped(0));
  EXPECT_EQ(logical_lines(screen.grid())[0].text, "012345678中x") << "the empty last column was not written";
}

TEST(Print, ABlankInTheLastColumnBeforeAWideCharacterIsPreserved) {
  EXPECT_EQ(logical_lines(screen_after("012345678 中").grid())[0].text, "012345678 中");
}

TEST(Print, OverwritingTheLeftHalfOfAWideCharacterBlanksTheRight) {
  const Screen screen = screen_after("中文\x1b[1Gx");
  EXPECT_EQ(rows_of(screen), (Rows{"x 文"}));
  EXPECT_EQ(broken_cells(screen.grid()), "");
}

TEST(Print, OverwritingTheRightHalfOfAWideCharacterBlanksTheLeft) {
  EXPECT_EQ(rows_after("中文\x1b[2Gx"), (Rows{" x文"}));
}

TEST(Print, AWideCharacterOverTwoHalvesBlanksBothRests) { EXPECT_EQ(rows_after("中文\x1b[2G字"), (Rows{" 字"})); }

TEST(Print, AMarkJoinsTheCharacterBeforeIt) {
  const Screen screen = screen_after("e\u0301x");
  EXPECT_EQ(screen.grid().row(0).cell_text(0), "e\u0301");
  EXPECT_EQ(screen.cursor().column, 2);
}

TEST(Print, AMarkJoinsTheLastColumnWithoutWrapping) {
  EXPECT_EQ(rows_after("012345678e\u0301"), (Rows{"012345678e\u0301"}));
}

TEST(Print, AMarkBehindAMovedCursorIsDropped) { EXPECT_EQ(rows_after("ab\x1b[1;5H\u0301x"), (Rows{"ab  x"})); }

TEST(Print, MarksPerCellAreBounded) {
  std::string flood = "a";
  for (int i = 0; i < 10'000; ++i) flood += "\u0301";
  const Screen screen = screen_after(flood + "b");
  EXPECT_LE(screen.grid().row(0).cell_text(0).size(), kMaxClusterBytes);
  EXPECT_EQ(screen.grid().row(0).cell_text(1), "b");
}

TEST(Print, AFamilyJoinedByZwjIsOneWideCell) {
  const Screen screen = screen_after("👨\u200d👩\u200d👧x");
  EXPECT_EQ(screen.grid().row(0).cell_text(0), "👨\u200d👩\u200d👧");
  EXPECT_EQ(screen.grid().row(0).cell_text(2), "x");
}

TEST(Print, AFlagIsOneWideCell) {
  const Screen screen = screen_after("🇩🇪🇫🇷");
  EXPECT_EQ(screen.grid().row(0).cell_text(0), "🇩🇪");
  EXPECT_EQ(screen.grid().row(0).cell_text(2), "🇫🇷");
}

TEST(Print, ASkinToneJoinsTheHand) { EXPECT_EQ(screen_after("👍🏽").cursor().column, 2); }

TEST(Print, AnEmojiSelectorMakesANarrowPictureWide) {
  const Screen screen = screen_after("❤\ufe0fx");
  EXPECT_EQ(screen.grid().row(0).cell(0).columns(), 2);
  EXPECT_EQ(screen.grid().row(0).cell_text(2), "x");
}

TEST(Print, AnEmojiSelectorOnALetterChangesNothing) { EXPECT_EQ(screen_after("a\ufe0f").cursor().column, 1); }

TEST(Print, APictureThatGrowsInTheLastColumnMovesToTheNextRow) {
  const Screen screen = screen_after("012345678❤\ufe0f");
  EXPECT_EQ(rows_of(screen), (Rows{"012345678", "❤\ufe0f"}));
  EXPECT_EQ(logical_lines(screen.grid())[0].text, "012345678❤\ufe0f");
  EXPECT_EQ(broken_cells(screen.grid()), "");
}

TEST(Print, BrokenUtf8BecomesReplacementCharacters) {
  EXPECT_EQ(rows_after("a\xff"
                       "b\xe4\xb8"
                       "c\xed\xa0\x80"
                       "d"),
            (Rows{"a\ufffd"
                  "b\ufffd"
                  "c\ufffd\ufffd\ufffd"
                  "d"}));
}

TEST(Print, C1ControlsInUtf8AreIgnored) {
  EXPECT_EQ(rows_after("a\xc2\x9b"
                       "2Jb"),
            (Rows{"a2Jb"}));
}

TEST(Print, DecGraphicsDrawsBoxesUntilSwitchedBack) {
  EXPECT_EQ(rows_after("\x1b(0lqk\x1b(Bq"), (Rows{"┌─┐q"}));
  EXPECT_EQ(rows_after("\x1b)0a\x0eqx\x0f"
                       "b"),
            (Rows{"a─│b"}));
}

TEST(Print, InsertModePushesTheRestToTheRight) { EXPECT_EQ(rows_after("abc\x1b[4h\x1b[2GXY"), (Rows{"aXYbc"})); }

TEST(Print, RepeatWritesTheLastCharacterAgain) {
  EXPECT_EQ(rows_after("ab\x1b[3bc"), (Rows{"abbbbc"}));
  EXPECT_EQ(rows_after("中\x1b[2b"), (Rows{"中中中"}));
  EXPECT_EQ(rows_after("e\u0301\x1b[2b"), (Rows{"e\u0301e\u0301e\u0301"}));
}

TEST(Print, RepeatWithoutACharacterDoesNothing) { EXPECT_EQ(rows_after("ab\x1b[1;1H\x1b[3b"), (Rows{"ab"})); }

TEST(Print, RepeatIsBoundedByTheScreen) {
  Screen screen = screen_after("x\x1b[65535b");
  EXPECT_LE(screen.scrollback().end(), 2u);
}

TEST(Print, TabsGoToStopsThatCanBeSetAndCleared) {
  EXPECT_EQ(cursor_after("\t", {40, 2}).column, 8);
  EXPECT_EQ(cursor_after("\x1b[5G\x1bH\r\t", {40, 2}).column, 4);
  EXPECT_EQ(cursor_after("\x1b[3g\t", {40, 2}).column, 39);
  EXPECT_EQ(cursor_after("\x1b[9G\x1b[g\r\t", {40, 2}).column, 16);
  EXPECT_EQ(cursor_after("\x1b[20G\x1b[2Z", {40, 2}).column, 8);
}

TEST(Print, StylesAreStoredPerCell) {
  const Screen screen = screen_after("\x1b[1;31ma\x1b[0;48;2;1;2;3;4:3mb");
  const Style first = screen.grid().row(0).cell(0).style();
  const Style second = screen.grid().row(0).cell(1).style();
  EXPECT_TRUE(first.has(Attribute::Bold));
  EXPECT_EQ(first.foreground, Color::indexed(1));
  EXPECT_FALSE(second.has(Attribute::Bold));
  EXPECT_EQ(second.background, Color::rgb(1, 2, 3));
  EXPECT_EQ(second.underline, Underline::Curly);
}

}  // namespace
}  // namespace relay::terminal
