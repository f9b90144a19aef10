/// One end of a socket that speaks length-prefixed frames; blocking reads, plain buffers, nothing clever.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace relay::bench {

std::string frame_of(std::string_view body);

class Peer {
 public:
  explicit Peer(UniqueFd fd) : fd_{std::move(fd)} {}
  static Result<Peer> connect(const std::string& path);

  [[nodiscard]] int fd() const { return fd_.get(); }

  /// Waits until all of it is written.
  Result<void> write_all(std::string_view bytes);
  /// The next frame's body; waits for it.
  Result<std::string> read_frame();

  // For one thread that serves two peers: what can be done without waiting.
  void queue(std::string_view bytes) { out_ += bytes; }
  [[nodiscard]] std::size_t queued() const { return out_.size() - out_done_; }
  Result<void> write_some();
  Result<void> read_some();
  /// A complete frame that was read already.
  bool take(std::string_view& body);

 private:
  UniqueFd fd_;
  std::string out_;
  std::size_t out_done_ = 0;
  std::string in_;
  std::size_t in_done_ = 0;
};

}  // namespace relay::bench
