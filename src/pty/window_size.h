/// How large a terminal is, in characters; pixels where it says so.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace relay::pty {

struct WindowSize {
  std::uint16_t columns = 80;
  std::uint16_t rows = 24;
  std::uint16_t pixel_width = 0;
  std::uint16_t pixel_height = 0;

  bool operator==(const WindowSize&) const = default;
};

/// Of the terminal behind that descriptor; a terminal that does not know says 0 x 0, which becomes 80 x 24.
Result<WindowSize> window_size(int fd);

/// Those inside are told by SIGWINCH, if it changed.
Result<void> set_window_size(int fd, WindowSize size);

}  // namespace relay::pty
