/// Times and durations as short local text.
#pragma once

#include <string>

#include "base/clock.h"

namespace relay::cli {

/// `14:03:07` today, `Mar 02 14:03` this year, `2024-03-02 14:03` otherwise; local time.
std::string short_time(WallMs when, WallMs now);
/// `14:03` today; else as short_time.
std::string short_clock(WallMs when, WallMs now);
/// `14:03:07.123`, for timelines.
std::string exact_time(WallMs when);
/// `3 s`, `12 min`, `5 h`, `9 d`.
std::string short_duration(Millis length);
/// The same, with tenths below 10 s: `20 ms`, `1.2 s`, `42 s`.
std::string fine_duration(Millis length);
/// `1.4 GB`.
std::string short_size(std::uint64_t bytes);

}  // namespace relay::cli
