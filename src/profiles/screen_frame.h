/// A screen as input of the rules: rows of text, their style, the cursor, and what the program reported.
///
/// The newest rows of the scrollback come before the screen's rows, so that rows that scrolled off since the last
/// update are still read; the alternate screen has none.
#pragma once

#include <string>
#include <vector>

#include "profiles/profile.h"
#include "terminal/screen.h"

namespace relay::profiles {

inline constexpr std::size_t kHistoryRows = 200;

struct ScreenRow {
  std::string text = {};
  CharacterStyle style = CharacterStyle::Plain;  // of the first visible character
  bool all_dim = false;                          // every visible character behind the first column of text is faint
  bool soft = false;                             // the terminal wrapped here: the row continues in the next one

  [[nodiscard]] bool blank() const { return text.find_first_not_of(' ') == std::string::npos; }
};

struct ScreenFrame {
  std::vector<ScreenRow> rows = {};
  std::size_t screen_top = 0;  // index of the screen's first row
  std::size_t cursor_row = 0;  // index too
  int columns = 0;
  bool alternate = false;
  bool takes_pastes = false;  // bracketed paste is on: the program reads keys itself
  std::string title = {};
  terminal::ProgramStatus status = {};
};

ScreenFrame read_frame(const terminal::Screen& screen);

}  // namespace relay::profiles
