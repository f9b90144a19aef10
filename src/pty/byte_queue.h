/// A bounded queue of bytes that are not written yet.
///
/// Invariant: size() + room() is the bound; bytes that do not fit are not taken, and `push` returns how many were.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace relay::pty {

class ByteQueue {
 public:
  explicit ByteQueue(std::size_t bound) : bound_{bound} {}

  /// Returns how many of the bytes, from the first, were taken.
  std::size_t push(std::string_view bytes) {
    const auto taken = std::min(bytes.size(), room());
    if (consumed_ > 0 && bytes_.size() + taken > bound_) compact();
    bytes_.append(bytes.substr(0, taken));
    return taken;
  }

  /// All pending bytes.
  [[nodiscard]] std::string_view front() const { return std::string_view{bytes_}.substr(consumed_); }

  void pop(std::size_t count) {
    consumed_ += count;
    if (consumed_ < bytes_.size()) return;
    consumed_ = 0;
    if (bytes_.capacity() > kMaxIdleBytes)
      std::string{}.swap(bytes_);
    else
      bytes_.clear();
  }

  [[nodiscard]] std::size_t size() const { return bytes_.size() - consumed_; }
  [[nodiscard]] std::size_t room() const { return bound_ - size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }

 private:
  static constexpr std::size_t kMaxIdleBytes = 4 * 1024;  // a drained buffer larger than this is freed

  void compact() {
    bytes_.erase(0, consumed_);
    consumed_ = 0;
  }

  std::size_t bound_;
  std::string bytes_;
  std::size_t consumed_ = 0;  // bytes at the front that are already written
};

}  // namespace relay::pty
