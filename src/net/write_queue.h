/// The bytes one client is still owed, in order, as pieces it may share with a thousand others.
///
/// Why pieces: an event for a thousand readers is written once and held by pointers; only the few bytes that frame it
///   (the size of a chunk, the head of a frame) belong to one reader, and they lie in the entry itself.
/// Invariants: `flush` gives the kernel as many pieces as fit in one call, and never blocks; `bytes` is what it has not
///   taken yet, framing included. A drained queue gives its memory back.
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

inline SharedBuffer make_piece(std::string bytes) { return std::make_shared<const std::string>(std::move(bytes)); }

class WriteQueue {
 public:
  static constexpr std::size_t kMaxFrameBytes =
      20;  // before a piece: a chunk's size takes at most 18, a frame's head 10

  /// The frame goes before the piece, `after` behind it; `after` is a constant of the program. An empty pointer is a
  /// piece without bytes.
  void push(std::string_view frame, SharedBuffer piece, std::string_view after = {});
  void push(std::string bytes);

  enum class State { Drained, Waiting, Broken };
  /// Hands over what the socket takes now. Broken: nobody will read it any more.
  State flush(int socket);

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  void clear();

 private:
  struct Entry {
    SharedBuffer piece;
    std::string_view after;
    std::array<char, kMaxFrameBytes> frame;
    std::uint8_t frame_bytes = 0;
  };

  void drop_front(std::size_t count);

  std::vector<Entry> entries_;
  std::size_t first_ = 0;  // entries before it are gone
  std::size_t sent_ = 0;   // bytes of the first entry that are gone
  std::size_t bytes_ = 0;
};

}  // namespace relay::net
