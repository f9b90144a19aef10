/// Moments as text: `2026-03-01T12:30:05.250Z`, or with `+01:00` in place of the Z.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace relay::text {

/// The last moment JavaScript's Date can name (year 275760); later ones are slips, not times.
inline constexpr double kLastTimeMs = 8.64e15;

/// Empty when the text is no date and time with a zone: without one nobody knows which moment is meant.
std::optional<WallMs> parse_iso_time(std::string_view text);

/// `2026-01-31T12:00:00.000Z`
std::string format_iso_time(WallMs time);

}  // namespace relay::text
