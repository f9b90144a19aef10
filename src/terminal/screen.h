/// A terminal's screen as a value: bytes of a program go in, what a person would see comes out. No I/O.
///
/// Invariants: however the bytes are cut, the same screen and the same reports follow; memory is bounded whatever is
///   fed (limits.h); the cursor is inside the grid and a wide cell is always followed by its spacer.
/// Ownership: everything it shows belongs to it; references live until the next feed or resize.
/// Threading: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "terminal/grid.h"
#include "terminal/modes.h"
#include "terminal/reports.h"
#include "terminal/scrollback.h"

namespace relay::terminal {

class Display;

struct Cursor {
  int row = 0;
  int column = 0;
  bool wrap_pending = false;  // the last column was just written; the next character begins a new row
  bool visible = true;
  CursorShape shape = CursorShape::Default;
  bool operator==(const Cursor&) const = default;
};

class Screen {
 public:
  explicit Screen(Size size, std::size_t scrollback_rows = kScrollbackRows,
                  std::size_t scrollback_bytes = kScrollbackBytes);
  Screen(Screen&&) noexcept;
  Screen& operator=(Screen&&) noexcept;
  ~Screen();

  void feed(std::string_view bytes);
  /// Rows and columns are cut or added at the bottom and right; nothing is reflowed (README.md says why).
  void resize(Size size);

  [[nodiscard]] Size size() const;
  /// The screen that is shown.
  [[nodiscard]] const Grid& grid() const;
  [[nodiscard]] Cursor cursor() const;
  [[nodiscard]] bool alternate() const { return modes().alternate_screen; }
  [[nodiscard]] const Modes& modes() const;
  [[nodiscard]] const std::string& title() const;
  /// The last status the program told (OSC 7501); `Clear` before the first.
  [[nodiscard]] const ProgramStatus& program_status() const;
  [[nodiscard]] const Scrollback& scrollback() const;

  /// Grows with every change of the picture; equal numbers mean nothing was drawn in between.
  [[nodiscard]] std::uint64_t revision() const;
  /// True when no character or sequence is half-read.
  [[nodiscard]] bool in_ground_state() const;

  /// What happened since the last call, in order. At most kMaxReports wait; lost_reports() counts the others.
  std::vector<Report> take_reports();
  [[nodiscard]] std::uint64_t lost_reports() const;
  /// Rows drawn on since the last call, in rising order.
  std::vector<int> take_changed_rows();

  /// Same picture and state on both screens: the same bytes from now on do the same. Scrollback and reports not asked.
  bool operator==(const Screen& other) const;

  /// For render.h.
  [[nodiscard]] const Display& display() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace relay::terminal
