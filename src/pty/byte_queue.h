/// Bytes that wait to be written, in order, never more than a bound.
///
/// Invariant: size() + room() is the bound; what does not fit is not taken, and the giver is told.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace relay::pty {

class ByteQueue {
 public:
  explicit ByteQueue(std::size_t bound) : bound_{bound} {}

  /// How many of the bytes, from the first, were taken.
  std::size_t push(std::string_view bytes) {
    const auto taken = std::min(bytes.size(), room());
    if (gone_ > 0 && bytes_.size() + taken > bound_) compact();
    bytes_.append(bytes.substr(0, taken));
    return taken;
  }

  /// All that waits.
  [[nodiscard]] std::string_view front() const { return std::string_view{bytes_}.substr(gone_); }

  void pop(std::size_t count) {
    gone_ += count;
    if (gone_ < bytes_.size()) return;
    gone_ = 0;
    if (bytes_.capacity() > kKeptBytes)
      std::string{}.swap(bytes_);
    else
      bytes_.clear();
  }

  [[nodiscard]] std::size_t size() const { return bytes_.size() - gone_; }
  [[nodiscard]] std::size_t room() const { return bound_ - size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }

 private:
  static constexpr std::size_t kKeptBytes = 4 * 1024;  // a drained buffer larger than this is given back

  void compact() {
    bytes_.erase(0, gone_);
    gone_ = 0;
  }

  std::size_t bound_;
  std::string bytes_;
  std::size_t gone_ = 0;  // bytes at the front that are written already
};

}  // namespace relay::pty
