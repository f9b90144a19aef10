#include "commands/unwrap.h"

#include <gtest/gtest.h>

#include "commands/screen_extractor.h"

namespace relay::commands {
namespace {

using Texts = std::vector<std::string>;

/// Rows as drawn in a region of that width.
Texts unwrapped(std::size_t width, const Texts& rows) {
  std::vector<ScreenLine> drawn;
  for (const auto& row : rows) drawn.push_back({.text = row, .indent = 0, .width = width, .soft = false});
  Texts texts;
  for (auto& line : unwrap(drawn, PrefixTable{GrammarOptions{}})) texts.push_back(std::move(line.text));
  return texts;
}

TEST(Unwrap, JoinsRowsWithoutRoom) {
  EXPECT_EQ(unwrapped(20, {"the quick brown fox", "jumps over the dog."}),
            Texts{"the quick brown fox jumps over the dog."});
}

TEST(Unwrap, KeepsIntendedBreak) {
  EXPECT_EQ(unwrapped(40, {"All done.", "Next I wait."}), (Texts{"All done.", "Next I wait."}));
}

TEST(Unwrap, WordAtEdgeKeepsItsBlank) {
  EXPECT_EQ(unwrapped(9, {"three cat", "sits here"}), Texts{"three cat sits here"});
}

TEST(Unwrap, WordLongerThanRowIsJoined) {
  EXPECT_EQ(unwrapped(20, {"see https://e.example", "/a/b/c/d/e/f/g/h/i/j", "/k end"}),
            Texts{"see https://e.example/a/b/c/d/e/f/g/h/i/j/k end"});
}

TEST(Unwrap, PathBrokenAfterSlashIsJoined) {
  EXPECT_EQ(unwrapped(26, {"compare in src/auth/", "session.cpp, (2) and"}),
            Texts{"compare in src/auth/session.cpp, (2) and"});
  EXPECT_EQ(unwrapped(20, {"rather a constant-", "time compare"}), Texts{"rather a constant-time compare"});
}

TEST(Unwrap, TextWithoutBlanksIsJoinedWithoutOne) {
  EXPECT_EQ(unwrapped(9, {"漢字漢字", "漢字"}), Texts{"漢字漢字漢字"});
  EXPECT_EQ(unwrapped(12, {"row 漢字漢字", "漢字"}), Texts{"row 漢字漢字漢字"});
}

TEST(Unwrap, TerminalWrapIsJoinedUnchanged) {
  const std::vector<ScreenLine> rows = {{.text = "abcdefghij", .indent = 0, .width = 10, .soft = true},
                                        {.text = "klm", .indent = 0, .width = 10, .soft = false},
                                        {.text = "one two", .indent = 0, .width = 8, .soft = true},
                                        {.text = "three", .indent = 0, .width = 8, .soft = false},
                                        {},
                                        {.text = "one four", .indent = 0, .width = 8, .soft = true},
                                        {.text = "five", .indent = 1, .width = 8, .soft = false},
                                        {},
                                        {.text = "> quoted", .indent = 0, .width = 8, .soft = true},
                                        {.text = "text", .indent = 0, .width = 8, .soft = false}};
  const auto lines = unwrap(rows, PrefixTable{GrammarOptions{}});
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[3], (UnwrappedLine{"one four five", 5, 2}));
  EXPECT_EQ(lines[5], (UnwrappedLine{"> quotedtext", 8, 2}));
  EXPECT_EQ(lines[0], (UnwrappedLine{"abcdefghijklm", 0, 2}));
  EXPECT_EQ(lines[1], (UnwrappedLine{"one two three", 2, 2}));
}

TEST(Unwrap, ListItemsTablesAndEmptyRowsEndAParagraph) {
  EXPECT_EQ(unwrapped(14, {"some words so!", "- a longer one", "  item that", "- second", "", "after that"}),
            (Texts{"some words so!", "- a longer one item that", "- second", "", "after that"}));
  EXPECT_EQ(unwrapped(9, {"| a | b |", "| c | d |"}), (Texts{"| a | b |", "| c | d |"}));
  EXPECT_EQ(unwrapped(12, {"some words a", "1. numbered", "2. another"}),
            (Texts{"some words a", "1. numbered", "2. another"}));
}

TEST(Unwrap, DeeperTextIsAnotherParagraph) {
  EXPECT_EQ(unwrapped(10, {"some words", "    indented code"}), (Texts{"some words", "    indented code"}));
}

TEST(Unwrap, QuotesAreJoinedInsideTheirBars) {
  EXPECT_EQ(unwrapped(14, {"▎ @relay:Bob a", "▎ quoted text"}), Texts{"▎ @relay:Bob a quoted text"});
}

TEST(Unwrap, CommandAfterFullRowIsOwnLine) {
  EXPECT_EQ(unwrapped(20, {"I have told them all.", "@relay:Bob hello"}),
            (Texts{"I have told them all.", "@relay:Bob hello"}));
  EXPECT_EQ(unwrapped(20, {"@relay:Bob it is done", "@relay:Eve hello"}),
            (Texts{"@relay:Bob it is done", "@relay:Eve hello"}));
}

TEST(Unwrap, CommandInMidSentenceIsProse) {
  EXPECT_EQ(unwrapped(21, {"you would write it as", "@relay:Bob hello"}),
            Texts{"you would write it as @relay:Bob hello"});
}

TEST(Unwrap, WidestRowReplacesUnknownWidth) {
  EXPECT_EQ(unwrapped(0, {"the quick brown fox", "jumps over", "", "short"}),
            (Texts{"the quick brown fox jumps over", "", "short"}));
}

TEST(ScreenExtractor, CountsRows) {
  const std::vector<ScreenLine> rows = {{.text = "Hello.", .indent = 0, .width = 20, .soft = false},
                                        {.text = "", .indent = 0, .width = 20, .soft = false},
                                        {.text = "@relay:Bob the quick", .indent = 0, .width = 20, .soft = false},
                                        {.text = "brown fox", .indent = 0, .width = 20, .soft = false}};
  const auto commands = extract_from_screen(rows);
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(std::get<SendCommand>(commands[0]).body, "the quick brown fox");
  EXPECT_EQ(location_of(commands[0]), (SourceLocation{2, 3, 0}));
}

TEST(ScreenExtractor, ClosingMarkDrawnAsQuoteCloses) {
  std::vector<ScreenLine> rows;
  for (const auto* text : {"@relay:Bob <<<", "Line one", "  line two", "", "│ >>", "", "Sent."})
    rows.push_back({.text = text, .indent = 0, .width = 60, .soft = false});
  const auto commands = extract_from_screen(rows);
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(std::get<SendCommand>(commands[0]).body, "Line one\n  line two");
}

}  // namespace
}  // namespace relay::commands
