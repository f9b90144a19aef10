/// Lines of text from a descriptor, on the loop, one at a time.
///
/// Why not just a watch: files and /dev/null cannot be watched (the kernel calls them always ready), and a line may be
///   longer than we want to hold. Invariants: at most kMaxLineBytes are held; a longer line is dropped and reported.
/// Ownership: borrows loop and descriptor. Threading: loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "net/asio_loop.h"
#include "net/readable_watch.h"

namespace relay::cli {

inline constexpr std::size_t kMaxLineBytes = 512 * 1024;

class LineListener {
 public:
  virtual ~LineListener() = default;
  virtual void on_line(std::string_view line) = 0;  // without its end
  virtual void on_line_too_long() = 0;
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
  void hand_out();
  void read_later();

  net::AsioLoop& loop_;
  int fd_;
  LineListener& listener_;
  std::unique_ptr<net::ReadableWatch> watch_;  // none for what cannot be watched
  std::string held_;
  bool dropping_ = false;  // inside a line that is too long
  bool paused_ = false;
  bool ended_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace relay::cli
