#include "net/write_queue.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/result.h"

namespace relay::net {
namespace {

constexpr std::size_t kMaxParts = 192;      // of one call; an entry has three parts
constexpr std::size_t kMaxIdleEntries = 8;  // capacity that a drained queue keeps
constexpr std::size_t kCompactEntries = 256;

}  // namespace

void WriteQueue::push(std::string_view frame, SharedBuffer buffer, std::string_view after) {
  RELAY_ASSERT(frame.size() <= kMaxFrameBytes);
  const auto total = frame.size() + (buffer ? buffer->size() : 0) + after.size();
  if (total == 0) return;
  auto& entry = entries_.emplace_back(std::move(buffer), after);
  std::copy(frame.begin(), frame.end(), entry.frame.begin());
  entry.frame_bytes = static_cast<std::uint8_t>(frame.size());
  bytes_ += total;
}

void WriteQueue::push(std::string bytes) { push({}, make_shared_buffer(std::move(bytes))); }

WriteQueue::State WriteQueue::flush(int socket) {
  while (bytes_ > 0) {
    std::array<iovec, kMaxParts> parts;
    std::size_t count = 0;
    std::size_t skip = sent_;
    std::size_t offered = 0;
    const auto add = [&](std::string_view bytes) {
      const auto skipped = std::min(skip, bytes.size());
      skip -= skipped;
      bytes.remove_prefix(skipped);
      if (bytes.empty()) return;
      parts[count++] = {const_cast<char*>(bytes.data()), bytes.size()};
      offered += bytes.size();
    };
    for (std::size_t i = first_; i < entries_.size() && count + 3 <= kMaxParts; ++i) {
      const auto& entry = entries_[i];
      add({entry.frame.data(), entry.frame_bytes});
      if (entry.buffer) add(*entry.buffer);
      add(entry.after);
    }
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    const ssize_t taken = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0) return errno == EAGAIN || errno == ENOBUFS ? State::Waiting : State::Broken;
    drop_front(static_cast<std::size_t>(taken));
    if (static_cast<std::size_t>(taken) < offered) return State::Waiting;
  }
  return State::Drained;
}

void WriteQueue::clear() {
  if (entries_.capacity() > kMaxIdleEntries)
    std::vector<Entry>{}.swap(entries_);
  else
    entries_.clear();
  first_ = sent_ = bytes_ = 0;
}

void WriteQueue::drop_front(std::size_t count) {
  bytes_ -= count;
  if (bytes_ == 0) return clear();
  sent_ += count;
  for (;; ++first_) {
    auto& entry = entries_[first_];
    const auto size = entry.frame_bytes + (entry.buffer ? entry.buffer->size() : 0) + entry.after.size();
    if (sent_ < size) break;
    sent_ -= size;
    entry.buffer.reset();
  }
  if (first_ < kCompactEntries || first_ * 2 < entries_.size()) return;
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_));
  first_ = 0;
}

}  // namespace relay::net
