/// Writes lines to a descriptor without blocking on its reader.
///
/// Invariants: a line is written whole, in order, with its line end. `pending_bytes` counts bytes that the descriptor
///   has not accepted yet, so that the owner can stop accepting work. `written` runs when the last byte of its line was
///   written to the descriptor, and never for a line that was not. Regular files are not watched; pipes and sockets are
///   watched while bytes are pending.
/// Ownership: borrows loop and descriptor; restores the descriptor's flags. Threading: loop thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "mcp/on_written.h"
#include "net/asio_loop.h"
#include "net/descriptor_watch.h"

namespace relay::mcp {

class LineOutput {
 public:
  /// `on_written` runs after pending bytes have been written; `on_broken` once, when the reader has closed.
  LineOutput(net::AsioLoop& loop, int fd, std::move_only_function<void()> on_written,
             std::move_only_function<void()> on_broken);
  ~LineOutput();
  LineOutput(const LineOutput&) = delete;
  LineOutput& operator=(const LineOutput&) = delete;

  void write(std::string line, OnWritten written = {});
  [[nodiscard]] std::size_t pending_bytes() const { return bytes_.size(); }

 private:
  struct PendingWrite {
    std::uint64_t end;  // the count of written bytes at which its line is complete
    OnWritten written;
  };
  void flush();
  void notify_written();

  net::AsioLoop& loop_;
  int fd_;
  int flags_;
  std::move_only_function<void()> on_written_, on_broken_;
  std::string bytes_;
  std::uint64_t written_bytes_ = 0;  // bytes written so far
  std::deque<PendingWrite> pending_writes_;
  bool broken_ = false;
  std::unique_ptr<net::DescriptorWatch> watch_;
};

}  // namespace relay::mcp
