#include "pty/window_size.h"

#include <sys/ioctl.h>

namespace relay::pty {

Result<WindowSize> window_size(int fd) {
  winsize raw{};
  if (::ioctl(fd, TIOCGWINSZ, &raw) != 0) return fail_errno("cannot read the size of the terminal");
  WindowSize size{raw.ws_col, raw.ws_row, raw.ws_xpixel, raw.ws_ypixel};
  if (size.columns == 0) size.columns = WindowSize{}.columns;
  if (size.rows == 0) size.rows = WindowSize{}.rows;
  return size;
}

Result<void> set_window_size(int fd, WindowSize size) {
  const winsize raw{size.rows, size.columns, size.pixel_width, size.pixel_height};
  if (::ioctl(fd, TIOCSWINSZ, &raw) != 0) return fail_errno("cannot set the size of the terminal");
  return {};
}

}  // namespace relay::pty
