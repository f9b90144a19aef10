/// Signals as ordinary callbacks on the loop.
///
/// Ownership: borrows the loop; destroying it restores the default answer to those signals.
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

/// A peer that went away is an error code, never the end of the process.
void ignore_sigpipe();

}  // namespace relay::net
