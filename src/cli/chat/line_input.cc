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
  if (std::exchange(asked_, true)) return;
  loop_.post([this, alive = lifetime_.watch()] {
    if (!alive) return;
    asked_ = false;
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
    hand_out();
    if (paused_ || read_all_) return;  // no more is read before what is here is gone
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
    held_.append(buffer.data(), static_cast<std::size_t>(count));
    hand_out();
    if (!watch_) read_later();
    return;
  }
  read_all_ = true;
  watch_.reset();
  hand_out();
}

void LineInput::hand_out_one(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!std::exchange(dropping_, false)) return listener_.on_line(line);
  listener_.on_line_too_long(std::exchange(dropped_, {}),
                             line.substr(line.size() - std::min(line.size(), kSeenOfDropped)));
}

void LineInput::hand_out() {
  std::size_t begin = 0;
  while (!paused_) {
    const auto end = held_.find('\n', begin);
    if (end == std::string::npos) break;
    const std::string_view line{held_.data() + begin, end - begin};
    begin = end + 1;
    hand_out_one(line);
  }
  held_.erase(0, begin);
  if (!paused_ && held_.size() > kMaxLineBytes && !std::exchange(dropping_, true))
    dropped_.assign(held_, 0, kSeenOfDropped);
  if (!paused_ && dropping_ && held_.size() > kSeenOfDropped) held_.erase(0, held_.size() - kSeenOfDropped);
  if (paused_ || !read_all_ || ended_) return;
  if (!held_.empty() || dropping_) hand_out_one(std::exchange(held_, {}));  // the last one, without an end
  if (paused_) return;
  ended_ = true;
  listener_.on_input_ended();
}

}  // namespace relay::cli
