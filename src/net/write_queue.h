/// The pending bytes of one client, in order, as buffers that it may share with a thousand others.
///
/// Why shared buffers: an event for a thousand readers is encoded once and referenced; only the few framing bytes (the
///   size of a chunk, the head of a frame) belong to one reader, and the entry holds them inline.
/// Invariants: `flush` passes as many buffers as fit into one system call, and never blocks; `bytes` is what the kernel
///   has not taken yet, framing included. A drained queue frees its memory.
/// Threading: one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace relay::net {

using SharedBuffer = std::shared_ptr<const std::string>;

inline SharedBuffer make_shared_buffer(std::string bytes) {
  return std::make_shared<const std::string>(std::move(bytes));
}

class WriteQueue {
 public:
  static constexpr std::size_t kMaxFrameBytes =
      20;  // before a buffer: a chunk's size takes at most 18, a frame's head 10

  /// Queues `frame`, the buffer, and `after`, which must be a constant of the program. A null buffer is empty.
  void push(std::string_view frame, SharedBuffer buffer, std::string_view after = {});
  void push(std::string bytes);

  enum class State { Drained, Waiting, Broken };
  /// Writes what the socket takes now. Broken: the peer will not read any more.
  State flush(int socket);

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  void clear();

 private:
  struct Entry {
    SharedBuffer buffer;
    std::string_view after;
    std::array<char, kMaxFrameBytes> frame;
    std::uint8_t frame_bytes = 0;
  };

  void drop_front(std::size_t count);

  std::vector<Entry> entries_;
  std::size_t first_ = 0;  // entries before it are sent
  std::size_t sent_ = 0;   // bytes of the first entry that are sent
  std::size_t bytes_ = 0;
};

}  // namespace relay::net
