/// Calls back when a descriptor can be read or written, once per request.
///
/// Why not ReadableWatch: the loop can register a descriptor that is read and written (a terminal) only once, and a
///   reader with a bounded turn wants one callback per request instead of callbacks until it pauses.
/// Invariants: two `want_*` calls before the callback cause one callback. The descriptor becomes non-blocking.
/// Ownership: borrows the descriptor, which outlives the watch. Destroying the watch ends it, also inside a callback.
/// Threading: loop thread only.
#pragma once

#include <functional>
#include <memory>

namespace relay::net {

class AsioLoop;

class DescriptorWatch {
 public:
  DescriptorWatch(AsioLoop& loop, int fd, std::move_only_function<void()> on_readable,
                  std::move_only_function<void()> on_writable);
  ~DescriptorWatch();
  DescriptorWatch(const DescriptorWatch&) = delete;
  DescriptorWatch& operator=(const DescriptorWatch&) = delete;

  void want_readable();
  void want_writable();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace relay::net
