#include "tmux/commands.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace relay::tmux {
namespace {

using Lines = std::vector<std::string>;

TEST(Commands, ParsesVersions) {
  EXPECT_EQ(parse_version("tmux 3.3a"), (Version{3, 3}));
  EXPECT_EQ(parse_version("tmux 2.9"), (Version{2, 9}));
  EXPECT_EQ(parse_version("tmux next-3.10"), (Version{3, 10}));
  EXPECT_EQ(parse_version("tmux 4"), (Version{4, 0}));
  EXPECT_GT(parse_version("tmux master"), (Version{99, 0}));
  EXPECT_FALSE(parse_version("screen 4.9"));
  EXPECT_FALSE(parse_version("tmux 99999999999.1"));
  EXPECT_FALSE(parse_version(""));
  EXPECT_LT((Version{2, 9}), (Version{3, 2}));
}

TEST(Commands, QuotesSpecialBytes) {
  EXPECT_EQ(quoted("ab-9_"), "\"ab-9_\"");
  EXPECT_EQ(quoted("a b\"$\\;~#{x}\n\xff"), R"("a\040b\042\044\134\073\176\043\173x\175\012\377")");
  EXPECT_EQ(quoted(""), "\"\"");
}

const PasteTarget kOld{.pane = 3, .buffer = "b", .needs_raw_paste_flag = false};

TEST(Commands, PastesBytesAndSendsZerosAsKeys) {
  EXPECT_EQ(paste_commands("hi\r", kOld), (Lines{R"(set-buffer -b b -- "hi\015")", "paste-buffer -d -r -b b -t %3"}));
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(paste_commands("\0\0a\0"sv, kOld), (Lines{"send-keys -H -t %3 00 00", R"(set-buffer -b b -- "a")",
                                                      "paste-buffer -d -r -b b -t %3", "send-keys -H -t %3 00"}));
  EXPECT_TRUE(paste_commands("", kOld).empty());
}

TEST(Commands, PastesALongTextWithOneCommand) {
  const std::string text(2'500, 'x');
  const auto lines = paste_commands(text, kOld);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_TRUE(lines[0].starts_with("set-buffer -b b -- \"x"));
  EXPECT_TRUE(lines[1].starts_with("set-buffer -a -b b -- \"x"));
  EXPECT_TRUE(lines[2].starts_with("set-buffer -a -b b -- \"x"));
  EXPECT_EQ(lines[3], "paste-buffer -d -r -b b -t %3");
  EXPECT_EQ(std::ranges::count(lines[0] + lines[1] + lines[2], 'x'), 2'500);
}

TEST(Commands, RequestsRawPasteWhereNeeded) {
  auto target = kOld;
  target.needs_raw_paste_flag =
      needs_raw_paste_flag("paste-buffer (pasteb) [-dprS] [-s separator] [-b buffer-name] [-t target-pane]");
  EXPECT_EQ(paste_commands("hi", target), (Lines{R"(set-buffer -b b -- "hi")", "paste-buffer -d -r -S -b b -t %3"}));
  EXPECT_FALSE(needs_raw_paste_flag("paste-buffer (pasteb) [-dpr] [-s Separator] [-b buffer-name] [-t target-pane]"));
  EXPECT_FALSE(needs_raw_paste_flag("paste-buffer S"));
  EXPECT_FALSE(needs_raw_paste_flag(""));
}

TEST(Commands, CreatesSessionNames) {
  EXPECT_EQ(session_name("Alice"), "relay-Alice");
  EXPECT_EQ(session_name("a_b"), "relay-a_b");
  EXPECT_TRUE(session_name("a.b:c d#{x}").starts_with("relay-a_b_c_d__x_-"));
  EXPECT_EQ(session_name("a.b").size(), std::string_view{"relay-a_b-01234567"}.size());
  EXPECT_NE(session_name("a.b"), session_name("a:b")) << "two agents never share a session";
}

TEST(Commands, FindsAPaneInALayout) {
  const auto size = [](std::string_view layout, PaneNumber pane) {
    const auto found = size_in_layout(layout, pane);
    return found ? std::pair{found->columns, found->rows} : std::pair<std::uint16_t, std::uint16_t>{0, 0};
  };
  using Pair = std::pair<std::uint16_t, std::uint16_t>;
  EXPECT_EQ(size("b25d,80x24,0,0,0", 0), (Pair{80, 24}));
  EXPECT_EQ(size("b25d,80x24,0,0,0", 1), (Pair{0, 0}));
  EXPECT_EQ(size("bb62,159x48,0,0{79x48,0,0,1,79x47,80,0,2}", 2), (Pair{79, 47}));
  const auto* const nested =
      "9b7f,200x50,0,0{99x50,0,0,0,100x50,100,0[100x25,100,0,1,100x24,100,26{50x24,100,26,2,49x24,151,26,3}]}";
  EXPECT_EQ(size(nested, 0), (Pair{99, 50}));
  EXPECT_EQ(size(nested, 1), (Pair{100, 25}));
  EXPECT_EQ(size(nested, 3), (Pair{49, 24}));
  for (const auto* bad :
       {"", ",", "b25d", "b25d,", "b25d,80", "b25d,80x", "b25d,80x24,0", "b,99999x1,0,0,0", "{{{{,,,,xxx"})
    EXPECT_EQ(size(bad, 0), (Pair{0, 0})) << bad;
}

TEST(Commands, ReadsASize) {
  EXPECT_EQ(parse_size("90 20\n"), (pty::WindowSize{.columns = 90, .rows = 20}));
  EXPECT_FALSE(parse_size("90x20"));
  EXPECT_FALSE(parse_size("0 20"));
  EXPECT_FALSE(parse_size(""));
}

TEST(Commands, RedrawsAScreen) {
  EXPECT_EQ(redraw_bytes("4 1 1\n", "one\n\ntwo\n"),
            "\x18\x1b[?1049h\x1b[m\x1b[H\x1b[2J\x1b[1;1Hone\x1b[2;1H\x1b[3;1Htwo\x1b[m\x1b[2;5H");
  EXPECT_TRUE(redraw_bytes("", "").ends_with("\x1b[1;1H"));
}

}  // namespace
}  // namespace relay::tmux
