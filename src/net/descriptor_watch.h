/// Calls back when a descriptor can be read or written, once for each time it was asked.
///
/// Why beside ReadableWatch: a descriptor that is read and written (a terminal) can be registered with the loop only
///   once, and whoever reads in bounded turns wants to be asked again, not called until he says stop.
/// Invariants: `want_*` asked twice before the answer is one answer. The descriptor becomes non-blocking.
/// Ownership: borrows the descriptor, which outlives it; destroying the watch ends it, also from inside a callback.
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
