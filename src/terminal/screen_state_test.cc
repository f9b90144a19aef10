#include <gtest/gtest.h>

#include "terminal/testing/screens.h"

namespace relay::terminal {
namespace {

using namespace testing;
using Rows = std::vector<std::string>;

TEST(Cursor, MovesStopAtTheEdges) {
  EXPECT_EQ(cursor_after("\x1b[99;99H"), (Position{3, 9}));
  EXPECT_EQ(cursor_after("\x1b[99A\x1b[99D"), (Position{0, 0}));
  EXPECT_EQ(cursor_after("\x1b[2B\x1b[3C"), (Position{2, 3}));
  EXPECT_EQ(cursor_after("\x1b[3d\x1b[4G"), (Position{2, 3}));
  EXPECT_EQ(cursor_after("\x1b[99999999999999B"), (Position{3, 0}));
}

TEST(Cursor, UpAndDownStopAtTheRegion) {
  EXPECT_EQ(cursor_after("\x1b[2;3r\x1b[2;1H\x1b[9B").row, 2);
  EXPECT_EQ(cursor_after("\x1b[2;3r\x1b[3;1H\x1b[9A").row, 1);
}

TEST(Cursor, OriginModeCountsFromTheRegion) {
  Screen screen = screen_after("\x1b[2;3r\x1b[?6h\x1b[1;1Hx\x1b[9;1Hy\x1b[6n");
  EXPECT_EQ(rows_of(screen), (Rows{"", "x", "y"}));
  EXPECT_EQ(reports_of<QueryReceived>(screen)[0].query.cursor, (Position{1, 1}));
}

TEST(Cursor, SavingKeepsPositionStyleCharsetAndOrigin) {
  const Screen screen = screen_after(
      "\x1b[2;3H\x1b[31m\x1b(0\x1b"
      "7\x1b[H\x1b[0m\x1b(Bq\x1b"
      "8q");
  EXPECT_EQ(rows_of(screen), (Rows{"q", "  ─"}));
  EXPECT_EQ(screen.grid().row(1).cell(2).style().foreground, Color::indexed(1));
}

TEST(Cursor, ReportsShapeAndVisibility) {
  const Cursor cursor = screen_after("\x1b[?25l\x1b[5 q").cursor();
  EXPECT_FALSE(cursor.visible);
  EXPECT_EQ(cursor.shape, CursorShape::BlinkingBar);
}

TEST(Alternate, IsBlankAndKeepsThePrimary) {
  Screen screen = screen_after("hello\x1b[?1049h");
  EXPECT_TRUE(screen.alternate());
  EXPECT_EQ(rows_of(screen), (Rows{}));
  screen.feed("\x1b[2J\x1b[Hother\x1b[?1049l");
  EXPECT_FALSE(screen.alternate());
  EXPECT_EQ(rows_of(screen), (Rows{"hello"}));
  EXPECT_EQ(screen.cursor().column, 5) << "1049 restores the cursor";
  const auto reports = screen.take_reports();
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<AlternateEntered>(reports[0]));
  EXPECT_TRUE(std::holds_alternative<AlternateLeft>(reports[1]));
}

TEST(Alternate, EnteringTwiceHasNoEffect) {
  Screen screen = screen_after("\x1b[?1049h\x1b[?1047hx\x1b[?47l");
  EXPECT_FALSE(screen.alternate());
  EXPECT_EQ(reports_of<AlternateEntered>(screen).size(), 1u);
}

TEST(Alternate, HasASeparateScrollRegion) {
  EXPECT_EQ(rows_after("\x1b[1;2r\x1b[?1049h\x1b[4;1Hlast\x1b[1;1H\r\n\r\n\r\nhere"), (Rows{"", "", "", "here"}));
}

TEST(Modes, AreStored) {
  const Screen screen = screen_after("\x1b[?1;1000;1006;1004;2004;2026h\x1b=\x1b[>4;2m");
  const Modes& modes = screen.modes();
  EXPECT_TRUE(modes.application_cursor && modes.focus_reports && modes.bracketed_paste && modes.synchronized);
  EXPECT_TRUE(modes.application_keypad);
  EXPECT_EQ(modes.mouse, MouseTracking::PressRelease);
  EXPECT_EQ(modes.mouse_encoding, MouseEncoding::Sgr);
  EXPECT_EQ(modes.modify_other_keys, 2);
}

TEST(Modes, KeyboardFlagsArePushedAndPoppedPerScreen) {
  Screen screen = screen_after("\x1b[>1u");
  EXPECT_EQ(screen.modes().keyboard_flags, 1);
  screen.feed("\x1b[?1049h");
  EXPECT_EQ(screen.modes().keyboard_flags, 0);
  screen.feed("\x1b[=5;1u\x1b[=2;2u\x1b[=1;3u");
  EXPECT_EQ(screen.modes().keyboard_flags, 6);
  screen.feed("\x1b[?1049l");
  EXPECT_EQ(screen.modes().keyboard_flags, 1);
  screen.feed("\x1b[<u");
  EXPECT_EQ(screen.modes().keyboard_flags, 0);
  for (int i = 0; i < 1'000; ++i) screen.feed("\x1b[>3u");
  screen.feed("\x1b[<65535u");
  EXPECT_EQ(screen.modes().keyboard_flags, 0);
}

TEST(Modes, FullResetRestoresDefaults) {
  Screen screen = screen_after(
      "text\x1b[?1049h\x1b[?2004h\x1b[31m\x1b[2;3r\x1b"
      "c");
  EXPECT_EQ(screen, Screen({10, 4}));
  EXPECT_EQ(reports_of<FullReset>(screen).size(), 1u);
}

TEST(Modes, SoftResetKeepsTheContent) {
  const Screen screen = screen_after("text\x1b[?25l\x1b[4h\x1b[!p");
  EXPECT_EQ(rows_of(screen), (Rows{"text"}));
  EXPECT_TRUE(screen.modes().cursor_visible);
  EXPECT_FALSE(screen.modes().insert);
}

TEST(Title, IsReportedWhenItChanges) {
  Screen screen = screen_after("\x1b]0;one\a\x1b]2;one\x1b\\\x1b]2;two\x1b\\");
  EXPECT_EQ(screen.title(), "two");
  EXPECT_EQ(reports_of<TitleChanged>(screen), (std::vector<TitleChanged>{{"one"}, {"two"}}));
}

TEST(Title, IsTruncatedBetweenCharacters) {
  std::string title;
  while (title.size() < 2 * kMaxTitleBytes) title += "語";
  const Screen screen = screen_after("\x1b]2;" + title + "\a");
  EXPECT_LE(screen.title().size(), kMaxTitleBytes);
  EXPECT_EQ(screen.title().size() % 3, 0u);
}

TEST(Title, IsPrintableForAnyInput) {
  EXPECT_EQ(screen_after("\x1b]2;a\xff"
                         "b\xc2\x9b"
                         "c\xe4\xb8\a")
                .title(),
            "a\ufffd"
            "b c\ufffd");
}

TEST(Title, CanBePushedAndPopped) {
  EXPECT_EQ(screen_after("\x1b]2;one\a\x1b[22;0t\x1b]2;two\a\x1b[23;0t").title(), "one");
}

TEST(ProgramStatus, IsReadWithItsMessage) {
  Screen screen = screen_after("\x1b]7501;state=blocked:app=claude:kind=permission:msg=YXBwcm92ZSBCYXNo\x1b\\");
  const ProgramStatus expected{ProgramState::Blocked, BlockedKind::Permission, "claude", "approve Bash"};
  EXPECT_EQ(screen.program_status(), expected);
  EXPECT_EQ(reports_of<StatusChanged>(screen), (std::vector<StatusChanged>{{expected}}));
}

TEST(ProgramStatus, IsIgnoredWithoutADefinedState) {
  Screen screen = screen_after("\x1b]7501;state=dancing:app=x\a\x1b]7501;app=x\a\x1b]7501;\a");
  EXPECT_TRUE(reports_of<StatusChanged>(screen).empty());
}

TEST(ProgramStatus, SurvivesBrokenMessagesAndStripsControls) {
  Screen screen = screen_after("\x1b]7501;state=error:msg=YQpi!!!:x:=y:app=\a");
  EXPECT_EQ(screen.program_status().message, "a b");
}

TEST(Queries, AreReportedInOrderWithTheirState) {
  Screen screen = screen_after(
      "\x1b[c\x1b[>c\x1b[>q\x1b[?u\x1b[2;3H\x1b[6n\x1b[?2026$p\x1b[?9999$p\x1b]10;?\a\x1b]11;?\x1b\\\x1b]4;7;?\a"
      "\x1b]7501;?\a\x1bP+q544e\x1b\\\x1b[14t\x1b[16t\x1b[18t\x1b_Ga=q,i=1;AAAA\x1b\\\x1b[?4m");
  std::vector<QueryKind> kinds;
  const auto queries = reports_of<QueryReceived>(screen);
  for (const auto& seen : queries) kinds.push_back(seen.query.kind);
  using enum QueryKind;
  EXPECT_EQ(kinds, (std::vector<QueryKind>{PrimaryAttributes, SecondaryAttributes, TerminalVersion, KeyboardFlags,
                                           CursorPosition, PrivateMode, PrivateMode, Foreground, Background,
                                           PaletteColor, ProgramStatus, Termcap, WindowPixels, CellPixels, WindowCells,
                                           Graphics, ModifyOtherKeys}));
  EXPECT_EQ(queries[4].query.cursor, (Position{1, 2}));
  EXPECT_EQ(queries[5].query.state, 2);
  EXPECT_EQ(queries[6].query.state, 0);
  EXPECT_EQ(queries[9].query.number, 7);
}

TEST(Strings, AreConsumedForAnyContent) {
  const std::string long_string(100'000, 'x');
  EXPECT_EQ(rows_after("a\x1b]8;;http://x\x1b\\b\x1b]52;c;" + long_string + "\ac\x1bPq" + long_string +
                       "\x1b\\d\x1b_G" + long_string + "\x1b\\e\x1b^pm\x1b\\f\x1bXsos\x1b\\g"),
            (Rows{"abcdefg"}));
}

TEST(Strings, AreAbortedByCancel) { EXPECT_EQ(rows_after("\x1b]0;title\x18text"), (Rows{"text"})); }

TEST(Sequences, UnknownOnesChangeNothing) {
  EXPECT_EQ(rows_after("a\x1b[1;2;3zb\x1b[?5;6yc\x1b[>4;?md\x1b[1 !pe\x1b%Gf"), (Rows{"abcdef"}));
}

TEST(Sequences, ControlsInsideASequenceAreExecutedAtOnce) { EXPECT_EQ(rows_after("ab\x1b[\r2Cc"), (Rows{"abc"})); }

TEST(Changes, ReportRowsAndRevision) {
  Screen screen = screen_after("");
  (void)screen.take_changed_rows();
  const auto before = screen.revision();
  screen.feed("\x1b[2;1Hx\x1b[4;1Hy");
  EXPECT_EQ(screen.take_changed_rows(), (std::vector<int>{1, 3}));
  EXPECT_EQ(screen.take_changed_rows(), (std::vector<int>{}));
  EXPECT_GT(screen.revision(), before);
  const auto after = screen.revision();
  screen.feed("\x1b[H\x1b[31m\x1b]0;t\a");
  EXPECT_EQ(screen.revision(), after) << "no cell changed";
}

TEST(Reports, AreBoundedAndLostOnesCounted) {
  Screen screen = screen_after(std::string(kMaxReports + 10, '\a'));
  EXPECT_EQ(screen.take_reports().size(), kMaxReports);
  EXPECT_EQ(screen.lost_reports(), 10u);
}

}  // namespace
}  // namespace relay::terminal
