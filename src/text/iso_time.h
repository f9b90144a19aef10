/// Times as text: `2026-03-01T12:30:05.250Z`, or with an offset such as `+01:00` instead of Z.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace relay::text {

/// The last time that JavaScript's Date can represent (year 275760); later values are treated as mistakes.
inline constexpr double kLastTimeMs = 8.64e15;

/// Empty when the text is not a date and time with a zone; without a zone the time is ambiguous.
std::optional<WallMs> parse_iso_time(std::string_view text);

/// `2026-01-31T12:00:00.000Z`
std::string format_iso_time(WallMs time);

}  // namespace relay::text
