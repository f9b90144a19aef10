#include "cli/chat/line_input.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

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

LineInput::~LineInput() = default;

void LineInput::read_later() {
  if (std::exchange(read_posted_, true)) return;
  loop_.post([this, alive = lifetime_.watch()] {
    if (!alive) return;
    read_posted_ = false;
    if (!paused_) read_some();
  });
}

void LineInput::pause() {
  if (std::exchange(paused_, true)) return;
  if (watch_) watch_->pause();
}

void LineInput::resume() {
  if (!std::exchange(paused_, false) || ended_) return;
  loop_.post([this, alive = lifetime_.watch()] {
    if (!alive || paused_) return;
    deliver_lines();
    if (paused_ || read_all_) return;  // reads again only when the buffer is empty
    if (watch_)
      watch_->resume();
    else
      read_later();
  });
}

void LineInput::read_some() {
  if (read_all_) return;
  std::array<char, 16 * 1024> buffer;
  const auto count = ::read(fd_, buffer.data(), buffer.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return watch_ ? void() : read_later();
  if (count > 0) {
    buffer_.append(buffer.data(), static_cast<std::size_t>(count));
    deliver_lines();
    if (!watch_) read_later();
    return;
  }
  read_all_ = true;
  watch_.reset();
  deliver_lines();
}

void LineInput::deliver_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!std::exchange(dropping_, false)) return listener_.on_line(line);
  listener_.on_line_too_long(std::exchange(dropped_, {}),
                             line.substr(line.size() - std::min(line.size(), kDroppedLineSample)));
}

void LineInput::deliver_lines() {
  std::size_t begin = 0;
  while (!paused_) {
    const auto end = buffer_.find('\n', begin);
    if (end == std::string::npos) break;
    const std::string_view line{buffer_.data() + begin, end - begin};
    begin = end + 1;
    deliver_line(line);
  }
  buffer_.erase(0, begin);
  if (!paused_ && buffer_.size() > kMaxLineBytes && !std::exchange(dropping_, true))
    dropped_.assign(buffer_, 0, kDroppedLineSample);
  if (!paused_ && dropping_ && buffer_.size() > kDroppedLineSample)
    buffer_.erase(0, buffer_.size() - kDroppedLineSample);
  if (paused_ || !read_all_ || ended_) return;
  if (!buffer_.empty() || dropping_) deliver_line(std::exchange(buffer_, {}));  // the last line, without a line end
  if (paused_) return;
  ended_ = true;
  listener_.on_input_ended();
}

}  // namespace relay::cli
