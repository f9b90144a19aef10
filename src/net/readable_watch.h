/// Calls back whenever a descriptor is readable (or can accept). For listeners and other rare events.
///
/// Ownership: borrows the descriptor, which outlives the watch. Destroying the watch ends it, also inside the callback.
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

  /// Stops callbacks until `resume`; input that arrives meanwhile is reported then.
  void pause();
  void resume();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace relay::net
