#include "cli/render/status_line.h"

#include <unistd.h>

#include <algorithm>

#include "base/format.h"

namespace relay::cli {

StatusLine::StatusLine(const Context& context)
    : context_{context}, live_{::isatty(STDERR_FILENO) == 1 && context.environment("TERM") != "dumb"} {}

void StatusLine::show(std::string_view line) {
  if (!live_) return;
  print_stderr(relay::format("\r\x1b[K{}", truncate(line, context_.columns - 1)));
  visible_ = true;
}

void StatusLine::clear() {
  if (visible_) print_stderr("\r\x1b[K");
  visible_ = false;
}

std::string progress_bar(double share, std::size_t columns, bool unicode) {
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(columns));
  std::string drawn;
  for (std::size_t at = 0; at < columns; ++at)
    drawn += at < full ? (unicode ? "\u2588" : "#") : (unicode ? "\u2591" : ".");
  return drawn;
}

}  // namespace relay::cli
