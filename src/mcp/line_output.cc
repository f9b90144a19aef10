#include "mcp/line_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace relay::mcp {

LineOutput::LineOutput(net::AsioLoop& loop, int fd, std::move_only_function<void()> on_written,
                       std::move_only_function<void()> on_broken)
    : loop_{loop},
      fd_{fd},
      flags_{::fcntl(fd, F_GETFL)},
      on_written_{std::move(on_written)},
      on_broken_{std::move(on_broken)} {
  if (flags_ >= 0) ::fcntl(fd_, F_SETFL, flags_ | O_NONBLOCK);
}

LineOutput::~LineOutput() {
  watch_.reset();
  if (flags_ >= 0) ::fcntl(fd_, F_SETFL, flags_);
}

void LineOutput::write(std::string line, OnWritten written) {
  if (broken_) return;
  bytes_ += line;
  bytes_ += '\n';
  if (written) pending_writes_.push_back({written_bytes_ + bytes_.size(), std::move(written)});
  if (bytes_.size() == line.size() + 1) flush();  // else the descriptor is full and watched
}

void LineOutput::flush() {
  const auto before = bytes_.size();
  std::size_t written = 0;
  while (written < bytes_.size()) {
    const auto count = ::write(fd_, bytes_.data() + written, bytes_.size() - written);
    if (count > 0) {
      written += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (errno != EINTR) {
      broken_ = true;
      bytes_.clear();
      pending_writes_.clear();
      return on_broken_();
    }
  }
  bytes_.erase(0, written);
  written_bytes_ += written;
  if (!bytes_.empty()) {
    if (!watch_) watch_ = std::make_unique<net::DescriptorWatch>(loop_, fd_, [] {}, [this] { flush(); });
    watch_->want_writable();
  }
  const bool some_went = bytes_.size() < before;
  notify_written();
  if (some_went) on_written_();
}

/// A callback may write.
void LineOutput::notify_written() {
  while (!pending_writes_.empty() && pending_writes_.front().end <= written_bytes_) {
    auto written = std::move(pending_writes_.front().written);
    pending_writes_.pop_front();
    written();
  }
}

}  // namespace relay::mcp
