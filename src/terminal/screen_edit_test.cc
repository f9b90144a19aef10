#include <gtest/gtest.h>

#include "terminal/logical_lines.h"
#include "terminal/testing/screens.h"

namespace relay::terminal {
namespace {

using namespace testing;
using Rows = std::vector<std::string>;

constexpr std::string_view kFourRows = "one\r\ntwo\r\nthree\r\nfour";

Rows four_rows_then(std::string_view bytes) { return rows_after(std::string{kFourRows} + std::string{bytes}); }

TEST(Erase, ErasesPartsOfALine) {
  EXPECT_EQ(rows_after("abcdef\x1b[3G\x1b[K"), (Rows{"ab"}));
  EXPECT_EQ(rows_after("abcdef\x1b[3G\x1b[1K"), (Rows{"   def"}));
  EXPECT_EQ(rows_after("abcdef\x1b[3G\x1b[2K"), (Rows{}));
}

TEST(Erase, ErasesPartsOfTheDisplay) {
  EXPECT_EQ(four_rows_then("\x1b[2;2H\x1b[J"), (Rows{"one", "t"}));
  EXPECT_EQ(four_rows_then("\x1b[3;2H\x1b[1J"), (Rows{"", "", "  ree", "four"}));
  EXPECT_EQ(four_rows_then("\x1b[2J"), (Rows{}));
}

TEST(Erase, AFullRowKeepsItsLastCharacterWhenTheRestIsErased) {
  EXPECT_EQ(rows_after("0123456789\x1b[K"), (Rows{"0123456789"}));
}

TEST(Erase, UsesTheCurrentBackground) {
  const Screen screen = screen_after("\x1b[1;44m\x1b[K");
  EXPECT_EQ(screen.grid().row(0).cell(5).style(), (Style{.background = Color::indexed(4)}));
}

TEST(Erase, HalfAWideCharacterErasesTheOtherHalf) {
  EXPECT_EQ(rows_after("a中文b\x1b[3G\x1b[X"), (Rows{"a  文b"}));
  EXPECT_EQ(rows_after("a中文b\x1b[3G\x1b[K"), (Rows{"a"}));
  EXPECT_EQ(rows_after("a中文b\x1b[2G\x1b[1K"), (Rows{"   文b"}));
}

TEST(Erase, ErasingAContinuationFromItsFirstColumnEndsTheLineAbove) {
  const Screen screen = screen_after("0123456789abc\r\x1b[K");
  EXPECT_FALSE(screen.grid().wrapped(0));
}

TEST(Characters, AreInsertedDeletedAndErased) {
  EXPECT_EQ(rows_after("abcdef\x1b[3G\x1b[2@"), (Rows{"ab  cdef"}));
  EXPECT_EQ(rows_after("abcdef\x1b[3G\x1b[2P"), (Rows{"abef"}));
  EXPECT_EQ(rows_after("abcdef\x1b[3G\x1b[2X"), (Rows{"ab  ef"}));
}

TEST(Characters, WideOneAcrossTheEdgeIsRemoved) {
  const Screen screen = screen_after("01234567中\x1b[1G\x1b[@");
  EXPECT_EQ(rows_of(screen), (Rows{" 01234567"}));
  EXPECT_EQ(broken_cells(screen.grid()), "");
}

TEST(Characters, KeepTheirMarks) {
  EXPECT_EQ(rows_after("ae\u0301b\x1b[1G\x1b[2@"), (Rows{"  ae\u0301b"}));
  EXPECT_EQ(rows_after("ae\u0301b\x1b[1G\x1b[P"), (Rows{"e\u0301b"}));
}

TEST(Lines, InsertedAndDeletedInsideTheRegion) {
  EXPECT_EQ(four_rows_then("\x1b[2;1H\x1b[L"), (Rows{"one", "", "two", "three"}));
  EXPECT_EQ(four_rows_then("\x1b[2;1H\x1b[M"), (Rows{"one", "three", "four"}));
  EXPECT_EQ(four_rows_then("\x1b[2;3r\x1b[2;1H\x1b[M"), (Rows{"one", "three", "", "four"}));
  EXPECT_EQ(four_rows_then("\x1b[2;3r\x1b[1;1H\x1b[M"), (Rows{"one", "two", "three", "four"})) << "outside the region";
}

TEST(Lines, SplitLineIsNoLongerJoined) {
  const Screen screen = screen_after("head\r\n0123456789abc\x1b[2;1H\x1b[M");
  EXPECT_EQ(rows_of(screen), (Rows{"head", "abc"}));
  EXPECT_FALSE(screen.grid().wrapped(0)) << "'abc' does not continue 'head'";
}

TEST(Scroll, UpAndDownWithinTheRegion) {
  EXPECT_EQ(four_rows_then("\x1b[2;3r\x1b[S"), (Rows{"one", "three", "", "four"}));
  EXPECT_EQ(four_rows_then("\x1b[2;3r\x1b[T"), (Rows{"one", "", "two", "four"}));
}

TEST(Scroll, IndexAndReverseIndexScrollAtTheEdges) {
  EXPECT_EQ(four_rows_then("\x1b[4;1H\x1b"
                           "D"),
            (Rows{"two", "three", "four"}));
  EXPECT_EQ(four_rows_then("\x1b[1;1H\x1bM"), (Rows{"", "one", "two", "three"}));
}

TEST(Scroll, RowsThatLeaveTheTopAreStoredAsText) {
  Screen screen = screen_after("one\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix");
  ASSERT_EQ(screen.scrollback().end(), 2u);
  EXPECT_EQ(screen.scrollback().row(0)->text, "one");
  EXPECT_EQ(screen.scrollback().row(1)->text, "two");
  EXPECT_EQ(reports_of<RowsScrolledOff>(screen), (std::vector<RowsScrolledOff>{{0, 2}}));
}

TEST(Scroll, RegionAtTheTopFeedsTheScrollback) {
  const Screen screen = screen_after("one\r\ntwo\r\nthree\r\nfour\x1b[1;2r\x1b[2;1H\n");
  ASSERT_EQ(screen.scrollback().end(), 1u);
  EXPECT_EQ(screen.scrollback().row(0)->text, "one");
}

TEST(Scroll, AlternateScreenHasNoScrollback) {
  EXPECT_EQ(screen_after("\x1b[?1049h1\n2\n3\n4\n5\n6\n7").scrollback().end(), 0u);
}

TEST(Scrollback, IsBoundedAndKeepsRowNumbers) {
  Screen screen{{10, 2}, 5, 1'000};
  for (int i = 0; i < 100; ++i) screen.feed("line" + std::to_string(i) + "\r\n");
  const Scrollback& scrollback = screen.scrollback();
  EXPECT_EQ(scrollback.end() - scrollback.first(), 5u);
  EXPECT_EQ(scrollback.row(0), nullptr);
  EXPECT_EQ(scrollback.row(scrollback.end() - 1)->text, "line" + std::to_string(scrollback.end() - 1));
  Scrollback small{1'000, 200};
  ScrolledRow row;
  row.text.assign(50, 'x');
  for (int i = 0; i < 100; ++i) small.push(row);
  EXPECT_LE(small.bytes(), 200u);
}

TEST(LogicalLines, JoinRowsAcrossTheScrollback) {
  const Screen screen = screen_after("0123456789abcdefghijklm\r\nend\r\n", {10, 3});
  const auto lines = logical_lines(screen.scrollback(), screen.grid());
  ASSERT_GE(lines.size(), 2u);
  EXPECT_EQ(lines[0], (LogicalLine{"0123456789abcdefghijklm", 3, -2}));
  EXPECT_EQ(lines[1].text, "end");
}

TEST(LogicalLines, KeepBlanksInsideAndCutThemAtTheEnd) {
  EXPECT_EQ(logical_lines(screen_after("01234567  abc   ").grid())[0].text, "01234567  abc");
}

TEST(Resize, FewerRowsPushTheTopIntoTheScrollback) {
  Screen screen = screen_after(kFourRows);
  screen.resize({10, 2});
  EXPECT_EQ(rows_of(screen), (Rows{"three", "four"}));
  EXPECT_EQ(screen.scrollback().end(), 2u);
  EXPECT_EQ(screen.cursor().row, 1);
}

TEST(Resize, BlankRowsBelowTheCursorAreRemovedFirst) {
  Screen screen = screen_after("one");
  screen.resize({10, 2});
  EXPECT_EQ(rows_of(screen), (Rows{"one"}));
  EXPECT_EQ(screen.scrollback().end(), 0u);
}

TEST(Resize, AWideCharacterCutByTheNewEdgeIsBlank) {
  Screen screen = screen_after("0123中");
  screen.resize({5, 4});
  EXPECT_EQ(rows_of(screen), (Rows{"0123"}));
  EXPECT_EQ(broken_cells(screen.grid()), "");
}

TEST(Resize, SizesAreClamped) {
  Screen screen = screen_after("x");
  screen.resize({-5, 1'000'000});
  EXPECT_EQ(screen.size(), (Size{kMinColumns, kMaxRows}));
  screen.feed("中中中");
  EXPECT_EQ(broken_cells(screen.grid()), "");
}

}  // namespace
}  // namespace relay::terminal
