/// Finds the composer, where the user types, with the patterns of a profile.
///
/// A full-screen program keeps its composer near the bottom. A line-mode program prints a prompt when it is ready and
/// scrolls: rows that were typed earlier look exactly the same, so the composer exists only while the cursor is in it
/// and the program has enabled bracketed paste, which it does while it reads keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "profiles/profile.h"
#include "profiles/regex.h"
#include "profiles/screen_frame.h"

namespace relay::profiles {

struct Composer {
  std::size_t first = 0, last = 0;  // rows
  bool focused = false;             // the cursor is in it
  std::string draft = {};           // its text; empty for a placeholder
};

class ComposerFinder {
 public:
  static Result<ComposerFinder> compile(const ComposerRule& rule);

  [[nodiscard]] std::optional<Composer> find(const ScreenFrame& frame) const;

 private:
  [[nodiscard]] std::optional<Composer> find_line(const ScreenFrame& frame) const;
  [[nodiscard]] std::optional<std::size_t> top(const ScreenFrame& frame, std::size_t end) const;
  [[nodiscard]] Composer read(const ScreenFrame& frame, std::size_t top, std::size_t end) const;

  Regex first_, exclude_, continuation_, above_, below_, placeholder_, decoration_;
  bool dim_is_placeholder_ = true;
  bool line_mode_ = false;
};

/// Is there a matching row above, with no empty row between? CutOff: the rows continue above the visible ones.
enum class Above : std::uint8_t { No, CutOff, Yes };
[[nodiscard]] Above find_above(const Regex& wanted, const ScreenFrame& frame, std::size_t row);

}  // namespace relay::profiles
