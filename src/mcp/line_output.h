/// Lines to a descriptor, never waiting for whoever reads them.
///
/// Invariants: a line is written whole, in order, with its end; what does not fit waits here, and `waiting` tells how much,
///   so that its owner can stop taking on work. Who asked for it hears when the last byte of a line has been handed to the
///   system, and never hears it of a line that was not. Files need no watching, pipes and sockets are watched while something waits.
/// Ownership: borrows loop and descriptor; puts the descriptor's flags back. Threading: loop thread only.
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
  /// `on_written` after some of what waited is gone; `on_broken` once, when nobody can read any more.
  LineOutput(net::AsioLoop& loop, int fd, std::move_only_function<void()> on_written,
             std::move_only_function<void()> on_broken);
  ~LineOutput();
  LineOutput(const LineOutput&) = delete;
  LineOutput& operator=(const LineOutput&) = delete;

  void write(std::string line, OnWritten written = {});
  [[nodiscard]] std::size_t waiting() const { return bytes_.size(); }

 private:
  struct PendingWrite {
    std::uint64_t end;  // of its line, among all bytes ever written
    OnWritten written;
  };
  void flush();
  void keep_promises();

  net::AsioLoop& loop_;
  int fd_;
  int flags_;
  std::move_only_function<void()> on_written_, on_broken_;
  std::string bytes_;
  std::uint64_t gone_ = 0;  // bytes written so far
  std::deque<PendingWrite> promises_;
  bool broken_ = false;
  std::unique_ptr<net::DescriptorWatch> watch_;
};

}  // namespace relay::mcp
