/// Lines of text from a descriptor, on the loop, one at a time.
///
/// Why not just a watch: files and /dev/null cannot be watched (the kernel calls them always ready), and a line may be
///   longer than we want to hold. Invariants: at most kMaxLineBytes and what one read brings are held; a longer line is
///   dropped and reported once it has ended. Nothing is handed out while paused, also not that the input has ended: that is
///   said after the last line.
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
inline constexpr std::size_t kSeenOfDropped = 1024;  // of each end of a line that is too long

class LineListener {
 public:
  virtual ~LineListener() = default;
  virtual void on_line(std::string_view line) = 0;  // without its end
  /// How it begins and how it ends: perhaps that tells what it was.
  virtual void on_line_too_long(std::string_view beginning, std::string_view end) = 0;
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
  void hand_out_one(std::string_view line);
  void read_later();

  net::AsioLoop& loop_;
  int fd_;
  LineListener& listener_;
  std::unique_ptr<net::ReadableWatch> watch_;  // none for what cannot be watched
  std::string held_;
  std::string dropped_;    // how the line that is too long begins; held_ is how it goes on
  bool dropping_ = false;  // inside a line that is too long
  bool paused_ = false;
  bool asked_ = false;     // a read is on its way
  bool read_all_ = false;  // the descriptor has no more
  bool ended_ = false;     // and the listener was told
  Lifetime lifetime_;
};

}  // namespace relay::cli
