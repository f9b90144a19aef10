/// Reads lines from a descriptor on the loop and passes them to a listener.
///
/// Why not only a watch: files and /dev/null cannot be watched (the kernel reports them as always ready), and a line may be
///   too long to buffer. Invariants: buffers at most kMaxLineBytes and one read; drops a longer line and reports it at its
///   end. A paused input calls no listener, not even for the end of input, which comes after the last line.
/// Ownership: borrows loop and descriptor. Threading: loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/lifetime.h"
#include "net/asio_loop.h"
#include "net/readable_watch.h"

namespace relay::cli {

inline constexpr std::size_t kMaxLineBytes = 512 * 1024;
inline constexpr std::size_t kDroppedLineSample = 1024;  // of each end of a line that is too long

class LineListener {
 public:
  virtual ~LineListener() = default;
  virtual void on_line(std::string_view line) = 0;  // without its line end
  /// Its first and last bytes, which may identify it.
  virtual void on_line_too_long(std::string_view start, std::string_view end) = 0;
  virtual void on_input_ended() = 0;
};

class LineInput {
 public:
  LineInput(net::AsioLoop& loop, int fd, LineListener& listener);
  ~LineInput();
  LineInput(const LineInput&) = delete;
  LineInput& operator=(const LineInput&) = delete;

  void pause();
  void resume();

 private:
  void read_some();
  void deliver_lines();
  void deliver_line(std::string_view line);
  void read_later();

  net::AsioLoop& loop_;
  int fd_;
  LineListener& listener_;
  std::unique_ptr<net::ReadableWatch> watch_;  // none for what cannot be watched
  std::string buffer_;
  std::string dropped_;    // the start of a line that is too long; buffer_ has its end
  bool dropping_ = false;  // inside a line that is too long
  bool paused_ = false;
  bool read_posted_ = false;
  bool read_all_ = false;  // the descriptor is at its end
  bool ended_ = false;     // and the listener was notified
  Lifetime lifetime_;
};

}  // namespace relay::cli
