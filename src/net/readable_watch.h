/// Calls back whenever a descriptor has something to read (or to accept). For listeners and other rare events.
///
/// Ownership: borrows the descriptor, which outlives it; destroying the watch ends it, also from inside the callback.
/// Threading: loop thread only.
#pragma once

#include <functional>
#include <memory>

namespace relay::net {

class AsioLoop;

class ReadableWatch {
 public:
  ReadableWatch(AsioLoop& loop, int fd, std::move_only_function<void()> on_readable);
  ~ReadableWatch();
  ReadableWatch(const ReadableWatch&) = delete;
  ReadableWatch& operator=(const ReadableWatch&) = delete;

  /// The callback waits until `resume`; what became readable meanwhile is then reported.
  void pause();
  void resume();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace relay::net
