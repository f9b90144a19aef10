/// The screen is checked in the terminal model, not in the bytes.
#include "cli/chat/line_view.h"

#include <gtest/gtest.h>

#include "cli/render/text_cells.h"
#include "terminal/screen.h"

namespace relay::cli {
namespace {

const LineView::Prompt kPrompt{"Bob> ", "Bob> "};

TEST(TextCells, CountsColumnsAsTerminalsDo) {
  const auto columns = [](std::string_view text) {
    std::vector<std::size_t> all;
    for (const auto& cell : cells_of(text)) all.push_back(cell.columns);
    return all;
  };
  EXPECT_EQ(columns("a日e\u0301"), (std::vector<std::size_t>{1, 2, 1}));
  EXPECT_EQ(columns("👩\u200d💻"), (std::vector<std::size_t>{10})) << "the joiner is visible, as everywhere";
  EXPECT_EQ(columns("❤\uFE0F"), (std::vector<std::size_t>{2}));
  EXPECT_EQ(columns("\x1b"), (std::vector<std::size_t>{2})) << "displayed as ^[";
  EXPECT_EQ(columns("\u202e").front(), 6U) << "bidirectional marks are visible";
  EXPECT_EQ(columns("\n\t"), (std::vector<std::size_t>{0, 1}));
}

class LineViewTest : public testing::Test {
 protected:
  void use(int columns, int rows) {
    screen_ = terminal::Screen{{.columns = columns, .rows = rows}};
    view_.resize({static_cast<std::size_t>(columns), static_cast<std::size_t>(rows)});
  }
  void draw(std::string_view text, std::size_t cursor = std::string_view::npos) {
    screen_.feed(view_.draw(kPrompt, text, std::min(cursor, text.size())));
  }
  /// The rows that are not empty, without trailing spaces.
  std::vector<std::string> rows() {
    std::vector<std::string> all;
    for (int row = 0; row < screen_.size().rows; ++row) {
      auto text = screen_.grid().text(row);
      while (text.ends_with(' ')) text.pop_back();
      all.push_back(text);
    }
    while (!all.empty() && all.back().empty()) all.pop_back();
    return all;
  }
  void expect_cursor(int row, int column) {
    EXPECT_EQ(screen_.cursor().row, row);
    EXPECT_EQ(screen_.cursor().column, column);
  }

  terminal::Screen screen_{{.columns = 80, .rows = 24}};
  LineView view_;
};

TEST_F(LineViewTest, DrawsLineAndCursor) {
  draw("hello", 2);
  EXPECT_EQ(rows(), (std::vector<std::string>{"Bob> hello"}));
  expect_cursor(0, 7);
  draw("hell", 4);
  EXPECT_EQ(rows(), (std::vector<std::string>{"Bob> hell"}));
}

TEST_F(LineViewTest, BreaksALongLineAtFortyColumns) {
  use(40, 10);
  draw(std::string(100, 'x'));
  EXPECT_EQ(rows(),
            (std::vector<std::string>{"Bob> " + std::string(34, 'x'), std::string(39, 'x'), std::string(27, 'x')}));
  expect_cursor(2, 27);
  draw(std::string(100, 'x'), 10);
  expect_cursor(0, 15);
  draw("short");
  EXPECT_EQ(rows(), (std::vector<std::string>{"Bob> short"}));
}

TEST_F(LineViewTest, NeverSplitsWideCharacter) {
  use(10, 10);
  draw("日本語日本");
  EXPECT_EQ(rows(), (std::vector<std::string>{"Bob> 日本", "語日本"}));
  expect_cursor(1, 6);
  draw("日本語日本", 6);  // behind the second: it wraps with the third
  expect_cursor(1, 0);
}

TEST_F(LineViewTest, MessagesAppearAboveLine) {
  use(40, 10);
  draw("half a sent", 4);
  screen_.feed(view_.erase());
  screen_.feed("12:00  Carol: hello\r\n");
  screen_.feed(view_.draw(kPrompt, "half a sent", 4));
  EXPECT_EQ(rows(), (std::vector<std::string>{"12:00  Carol: hello", "Bob> half a sent"}));
  expect_cursor(1, 9);
}

TEST_F(LineViewTest, PastedLinesAreRowsAndLongTextShowsPartAroundCursor) {
  use(20, 4);
  draw("a\nb\nc\nd\ne");
  EXPECT_EQ(rows(), (std::vector<std::string>{"c", "d", "e"}));
  draw("a\nb\nc\nd\ne", 0);
  EXPECT_EQ(rows(), (std::vector<std::string>{"Bob> a", "b", "c"}));
  expect_cursor(0, 5);
}

TEST_F(LineViewTest, EnteredLineStaysAndNextStartsBelow) {
  screen_.feed(view_.leave(kPrompt, "done"));
  draw("next");
  EXPECT_EQ(rows(), (std::vector<std::string>{"Bob> done", "Bob> next"}));
}

TEST_F(LineViewTest, ControlCharactersAreShownNotExecuted) {
  draw("a\x1b[2Jb");
  EXPECT_EQ(rows(), (std::vector<std::string>{"Bob> a^[[2Jb"}));
  expect_cursor(0, 12);
}

/// A terminal that wraps rows again when it becomes narrower: the drawn line then takes more rows.
TEST_F(LineViewTest, NarrowerTerminalIsClearedFromStartOfLine) {
  use(40, 10);
  draw(std::string(30, 'x'));
  terminal::Screen narrow{{.columns = 20, .rows = 10}};
  narrow.feed("above\r\nBob> " + std::string(30, 'x'));  // as such a terminal shows it: two rows
  view_.resize({20, 10});
  narrow.feed(view_.draw(kPrompt, std::string(30, 'x'), 30));
  EXPECT_EQ(narrow.grid().text(0).substr(0, 5), "above");
  EXPECT_EQ(narrow.grid().text(1).substr(0, 19), "Bob> " + std::string(14, 'x'));
}

}  // namespace
}  // namespace relay::cli
