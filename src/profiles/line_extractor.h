/// Relay commands in the output of a program that no profile describes: its lines, as they are printed.
///
/// Why not the screen: without a profile nobody knows which rows are the program's words. A line that was printed once,
///   from its start to its end, is certain.
/// Invariants: a row is read once. Rows that are drawn again (cursor up) are not; neither is text on the alternate screen,
///   nor rows that echo what the user typed, nor text at places that are addressed directly, until the screen is cleared or has scrolled. What is held is bounded
///   by commands/grammar_options.h.
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
  /// Output of the program's terminal; may be cut anywhere.
  std::vector<commands::Command> feed(std::string_view bytes);
  /// The program has been silent for a while: a message whose next line could have belonged to it is complete.
  std::vector<commands::Command> flush();
  /// The program has ended.
  std::vector<commands::Command> finish();

  /// Keys that the program's terminal echoes: the rows in which they appear are not the program's words.
  void on_echoed_keys(std::string_view keys);
  /// The height of the program's terminal.
  void set_rows(int rows) { rows_ = rows; }
  /// Why nothing that is printed now is read; empty when it is.
  [[nodiscard]] std::string_view unread_reason() const;

 private:
  struct Cursor {
    std::string line = {};   // what was printed in its row
    std::int64_t row = 0;    // counted from the first
    bool returned = false;   // at the start of the row: what is printed next replaces the line
    bool misplaced = false;  // moved within the row or to a place: what the row holds is not known
    bool addressed = false;  // moved to a place of the screen: its row is not known
    bool home = false;       // at the first place of the screen
    std::int64_t below = 0;  // addressed: so many rows are below at most; further lines scroll the screen
  };

  /// A row as it looks once the keys of one line are echoed.
  struct Echo {
    std::string row;         // what stood there before
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
  void show_alternate(bool shown);
  void start_afresh();

  terminal::VtParser parser_;
  commands::Extractor extractor_;
  std::vector<commands::Command> heard_;
  Cursor cursor_;
  Cursor saved_;
  std::int64_t last_row_ = -1;  // the lowest that was read
  bool alternate_ = false;      // the alternate screen is shown
  bool blank_ = false;          // the screen was cleared, and nothing was printed since
  Cursor main_cursor_;          // of the main screen, while the alternate one is shown
  Cursor main_saved_;
  std::optional<Echo> echo_;  // of the line that is being typed
  std::deque<Echo> echoes_;   // of those typed before that were not seen yet; the newest kMaxEchoes
  int rows_ = 1'000;          // more than any terminal has
};

}  // namespace relay::profiles
