/// A connected socket with a buffer each way; no call but `write_all` waits.
///
/// Why our own: every subject is spoken to by the same few lines, so that what differs in a table is the server and not
///   somebody's client library.
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
  /// As much of the queue as goes now.
  Result<void> write_some();
  /// Waits until these are written; nothing may be queued.
  Result<void> write_all(std::string_view bytes);

  /// What is there now, up to the room in the buffer.
  Result<void> read_some();
  [[nodiscard]] std::string_view unread() const { return {in_.get() + in_begin_, in_end_ - in_begin_}; }
  void consume(std::size_t bytes) { in_begin_ += bytes; }
  /// Waits until there is more to read, at most some seconds.
  Result<void> wait_and_read();

 private:
  void make_room();

  UniqueFd fd_;
  std::string out_;
  std::size_t out_done_ = 0;
  std::unique_ptr<char[]> in_;
  std::size_t in_capacity_;
  std::size_t in_begin_ = 0;
  std::size_t in_end_ = 0;
};

}  // namespace relay::bench
