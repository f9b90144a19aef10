/// Signals as callbacks on the loop.
///
/// Ownership: borrows the loop; the destructor restores the default action of these signals.
/// Threading: loop thread only.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>

namespace relay::net {

class AsioLoop;

class Signals {
 public:
  Signals(AsioLoop& loop, std::initializer_list<int> numbers, std::move_only_function<void(int)> on_signal);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Makes a write to a closed peer an error code instead of a fatal signal.
void ignore_sigpipe();

}  // namespace relay::net
