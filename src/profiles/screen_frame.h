/// A screen as rules look at it: rows of text, how each begins, where the cursor is, what the program told.
///
/// The newest rows of the scrollback stand before the screen's own, so that what scrolled off since the last look is
/// still seen; on the alternate screen there is none.
#pragma once

#include <string>
#include <vector>

#include "profiles/profile.h"
#include "terminal/screen.h"

namespace relay::profiles {

inline constexpr std::size_t kHistoryRows = 200;

struct ScreenRow {
  std::string text = {};
  CharacterStyle look = CharacterStyle::Plain;  // of the first visible character
  bool all_dim = false;                         // every visible character behind the first column of text is faint
  bool soft = false;                            // the terminal wrapped here: it goes on in the next row

  [[nodiscard]] bool blank() const { return text.find_first_not_of(' ') == std::string::npos; }
};

struct ScreenFrame {
  std::vector<ScreenRow> rows = {};
  std::size_t screen_top = 0;  // index of the screen's first row
  std::size_t cursor_row = 0;  // index too
  int columns = 0;
  bool alternate = false;
  bool takes_pastes = false;  // asked for pastes in brackets: it reads keys itself
  std::string title = {};
  terminal::ProgramStatus status = {};
};

ScreenFrame read_frame(const terminal::Screen& screen);

}  // namespace relay::profiles
