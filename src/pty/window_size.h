/// The size of a terminal, in characters; pixels where the terminal reports them.
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

/// The size of the terminal behind the descriptor; 0 x 0, when the terminal reports none, becomes 80 x 24.
Result<WindowSize> window_size(int fd);

/// Programs inside get SIGWINCH if the size changed.
Result<void> set_window_size(int fd, WindowSize size);

}  // namespace relay::pty
