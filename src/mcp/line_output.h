/// Lines to a descriptor, never waiting for whoever reads them.
///
/// Invariants: a line is written whole, in order, with its end; what does not fit waits here, and `waiting` tells how much,
///   so that its owner can stop taking on work. Files need no watching, pipes and sockets are watched while something waits.
/// Ownership: borrows loop and descriptor; puts the descriptor's flags back. Threading: loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>

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

  void write(std::string line);
  [[nodiscard]] std::size_t waiting() const { return bytes_.size(); }

 private:
  void flush();

  net::AsioLoop& loop_;
  int fd_;
  int flags_;
  std::move_only_function<void()> on_written_, on_broken_;
  std::string bytes_;
  bool broken_ = false;
  std::unique_ptr<net::DescriptorWatch> watch_;
};

}  // namespace relay::mcp
