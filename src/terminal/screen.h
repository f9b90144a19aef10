/// A terminal's screen as a value: the bytes of a program in, the visible cells out. No I/O.
///
/// Invariants: the same screen and reports result however the bytes are split; memory is bounded for any input
///   (limits.h); the cursor is inside the grid and a wide cell is always followed by its spacer.
/// Ownership: owns all its cells; references are valid until the next feed or resize.
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
  bool wrap_pending = false;  // the last column was just written; the next character starts a new row
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
  /// Rows and columns are cut or added at the bottom and right; no reflow (README.md has the reasons).
  void resize(Size size);

  [[nodiscard]] Size size() const;
  /// The visible screen.
  [[nodiscard]] const Grid& grid() const;
  [[nodiscard]] Cursor cursor() const;
  [[nodiscard]] bool alternate() const { return modes().alternate_screen; }
  [[nodiscard]] const Modes& modes() const;
  [[nodiscard]] const std::string& title() const;
  /// The last status that the program reported (OSC 7501); `Clear` before the first.
  [[nodiscard]] const ProgramStatus& program_status() const;
  [[nodiscard]] const Scrollback& scrollback() const;

  /// Grows with every change of the cells; equal numbers mean no change in between.
  [[nodiscard]] std::uint64_t revision() const;
  /// True when no character or sequence is incomplete.
  [[nodiscard]] bool in_ground_state() const;

  /// The reports since the last call, in order. At most kMaxReports are stored; lost_reports() counts the others.
  std::vector<Report> take_reports();
  [[nodiscard]] std::uint64_t lost_reports() const;
  /// The rows that changed since the last call, in ascending order.
  std::vector<int> take_changed_rows();

  /// Same cells and state on both screens: the same later bytes have the same effect. Scrollback and reports are not
  ///   compared.
  bool operator==(const Screen& other) const;

  /// For render.h.
  [[nodiscard]] const Display& display() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace relay::terminal
