/// Extracts relay commands from the output of a program without a profile, line by line as printed.
///
/// Why not the screen: without a profile nothing identifies the rows that are the program's text. A line that was
///   printed once, from its start to its end, is certain.
/// Invariants: a row is read once. Redrawn rows (cursor up) are not read; neither is text on the alternate screen, nor
///   rows that echo the user's input, nor text at addressed positions, until the screen is cleared or has scrolled.
///   Memory is bounded by commands/grammar_options.h.
/// Threading: one thread, no I/O, no clock.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/command.h"
#include "commands/extractor.h"
#include "terminal/vt_parser.h"

namespace relay::profiles {

class LineExtractor final : private terminal::VtActions {
 public:
  /// Output of the program's terminal, split anywhere.
  std::vector<commands::Command> feed(std::string_view bytes);
  /// The program is idle: a message that could have continued on the next line is complete.
  std::vector<commands::Command> flush();
  /// The program has ended.
  std::vector<commands::Command> finish();

  /// Keys that the program's terminal echoes: the rows with their echo are not the program's text.
  void on_echoed_keys(std::string_view keys);
  /// The height of the program's terminal.
  void set_rows(int rows) { rows_ = rows; }
  /// Why the current output is not read; empty when it is.
  [[nodiscard]] std::string_view unread_reason() const;

 private:
  struct Cursor {
    std::string line = {};   // text printed in its row
    std::int64_t row = 0;    // counted from the first
    bool returned = false;   // at the start of the row: the next output replaces the line
    bool misplaced = false;  // moved within the row or to a position: the row's content is unknown
    bool addressed = false;  // moved to a position: its row number is unknown
    bool home = false;       // at the first position of the screen
    std::int64_t below = 0;  // addressed: at most this many rows are below; more lines scroll the screen
  };

  /// A row as it looks once the keys of one line are echoed.
  struct Echo {
    std::string row;         // its earlier content
    std::size_t before = 0;  // its bytes
  };

  void text(std::string_view ascii) override;
  void character(char32_t code) override;
  void control(char code) override;
  void escape(char intermediate, char final) override;
  void csi(const terminal::Sequence& sequence) override;
  void osc(std::string_view) override {}
  void dcs(const terminal::Sequence&, std::string_view) override {}
  void apc(std::string_view) override {}

  [[nodiscard]] bool is_echo();
  void print(std::string_view utf8);
  void end_line();
  void move_rows(std::int64_t rows);
  void address(int row, int column);
  void restore_cursor();
  void stay_on_screen();
  void set_alternate(bool active);
  void reset_screen();

  terminal::VtParser parser_;
  commands::Extractor extractor_;
  std::vector<commands::Command> commands_;
  Cursor cursor_;
  Cursor saved_;
  std::int64_t last_row_ = -1;  // the lowest row that was read
  bool alternate_ = false;      // the alternate screen is active
  bool blank_ = false;          // the screen was cleared, without output since
  Cursor main_cursor_;          // of the main screen, while the alternate one is active
  Cursor main_saved_;
  std::optional<Echo> echo_;  // of the line being typed
  std::deque<Echo> echoes_;   // of earlier lines that did not appear yet; the newest kMaxEchoes
  int rows_ = 1'000;          // more than any terminal has
};

}  // namespace relay::profiles
