#include "cli/line_input.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>

namespace relay::cli {
namespace {

bool can_be_watched(int fd) {
  struct stat info{};
  if (::fstat(fd, &info) != 0 || S_ISREG(info.st_mode)) return false;
  return !S_ISCHR(info.st_mode) || ::isatty(fd) == 1;
}

}  // namespace

LineInput::LineInput(net::AsioLoop& loop, int fd, LineListener& listener) : loop_{loop}, fd_{fd}, listener_{listener} {
  if (can_be_watched(fd))
    watch_ = std::make_unique<net::ReadableWatch>(loop, fd, [this] { read_some(); });
  else
    read_later();
}

LineInput::~LineInput() { *alive_ = false; }

void LineInput::read_later() {
  loop_.post([this, alive = alive_] {
    if (*alive && !paused_ && !ended_) read_some();
  });
}

void LineInput::pause() {
  if (std::exchange(paused_, true)) return;
  if (watch_) watch_->pause();
}

void LineInput::resume() {
  if (!std::exchange(paused_, false) || ended_) return;
  loop_.post([this, alive = alive_] {
    if (*alive && !paused_) hand_out();
  });
  if (watch_)
    watch_->resume();
  else
    read_later();
}

void LineInput::read_some() {
  if (ended_) return;
  std::array<char, 16 * 1024> buffer;
  const auto count = ::read(fd_, buffer.data(), buffer.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return watch_ ? void() : read_later();
  if (count > 0) {
    held_.append(buffer.data(), static_cast<std::size_t>(count));
    hand_out();
    if (!watch_) read_later();
    return;
  }
  ended_ = true;
  watch_.reset();
  if (!held_.empty() && !dropping_) listener_.on_line(std::exchange(held_, {}));
  listener_.on_input_ended();
}

void LineInput::hand_out() {
  std::size_t begin = 0;
  while (!paused_) {
    const auto end = held_.find('\n', begin);
    if (end == std::string::npos) break;
    const std::string_view line{held_.data() + begin, end - begin};
    begin = end + 1;
    if (!std::exchange(dropping_, false))
      listener_.on_line(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
  }
  held_.erase(0, begin);
  if (paused_ || held_.size() <= kMaxLineBytes) return;
  held_.clear();
  if (!std::exchange(dropping_, true)) listener_.on_line_too_long();
}

}  // namespace relay::cli
