/// Where the person types, found on a screen with the patterns of a profile.
///
/// A program with a screen of its own keeps its composer near the bottom whatever it does. A line-mode program prints a
/// prompt when it is ready and scrolls on: rows that were typed earlier look exactly the same, so the composer is there
/// only while the cursor stands in it and the program asks for pastes in brackets, which it does while it reads keys.
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
  std::string draft = {};           // what stands in it; empty for a placeholder
};

class ComposerFinder {
 public:
  static Result<ComposerFinder> compile(const ComposerRule& rule);

  [[nodiscard]] std::optional<Composer> find(const ScreenFrame& sight) const;

 private:
  [[nodiscard]] std::optional<Composer> find_line(const ScreenFrame& sight) const;
  [[nodiscard]] std::optional<std::size_t> top(const ScreenFrame& sight, std::size_t end) const;
  [[nodiscard]] Composer read(const ScreenFrame& sight, std::size_t top, std::size_t end) const;

  Regex first_, exclude_, continuation_, above_, below_, placeholder_, decoration_;
  bool dim_is_placeholder_ = true;
  bool line_mode_ = false;
};

/// Does a row that fits stand above, with no empty row between? CutOff: the rows go on above what is seen.
enum class Above : std::uint8_t { No, CutOff, Yes };
[[nodiscard]] Above look_above(const Regex& wanted, const ScreenFrame& sight, std::size_t row);

}  // namespace relay::profiles
