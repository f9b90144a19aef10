/// A connected socket with a buffer in each direction. No call but `write_all` blocks.
///
/// Why no client libraries: the same code drives every subject, so a table compares servers, not libraries.
/// Threading: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace relay::bench {

class ByteSocket {
 public:
  explicit ByteSocket(UniqueFd fd);
  static Result<ByteSocket> connect_unix(const std::string& path);
  static Result<ByteSocket> connect_loopback(std::uint16_t port);

  [[nodiscard]] int fd() const { return fd_.get(); }

  void queue(std::string_view bytes) { out_ += bytes; }
  [[nodiscard]] std::size_t queued() const { return out_.size() - out_done_; }
  /// Writes as much of the queue as the socket accepts.
  Result<void> write_some();
  /// Blocks until the bytes are written. The queue must be empty.
  Result<void> write_all(std::string_view bytes);

  /// Reads what is available, up to the free space of the buffer.
  Result<void> read_some();
  [[nodiscard]] std::string_view unread() const { return {in_.get() + in_start_, in_end_ - in_start_}; }
  void consume(std::size_t bytes) { in_start_ += bytes; }
  /// Waits until there is more to read, at most a few seconds.
  Result<void> wait_and_read();

 private:
  void make_space();

  UniqueFd fd_;
  std::string out_;
  std::size_t out_done_ = 0;
  std::unique_ptr<char[]> in_;
  std::size_t in_capacity_;
  std::size_t in_start_ = 0;
  std::size_t in_end_ = 0;
};

}  // namespace relay::bench
