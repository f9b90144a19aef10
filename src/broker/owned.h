/// State that belongs to an agent or a connection, and that one part alone changes.
///
/// Why beside the agent: a message touches the state of its sender and its recipient. A separate table for every part
///   would cost a lookup by name for each of them.
/// Invariant: only the part that is named can change the member; the compiler checks it.
#pragma once

namespace relay::broker {

/// Read and written by its part.
template <class Part, class State>
class Owned {
  friend Part;
  State* operator->() { return &state_; }
  const State* operator->() const { return &state_; }
  State& operator*() { return state_; }
  const State& operator*() const { return state_; }

  State state_{};
};

/// Written by its part, read by all.
template <class Part, class State>
class Published {
 public:
  operator const State&() const { return state_; }
  const State& operator*() const { return state_; }
  /// The value; of an optional, what it holds.
  auto operator->() const {
    if constexpr (requires { state_.operator->(); })
      return state_.operator->();
    else
      return &state_;
  }
  explicit operator bool() const
    requires requires(const State& state) { state.has_value(); }
  {
    return state_.has_value();
  }

 private:
  friend Part;
  State& write() { return state_; }

  State state_{};
};

}  // namespace relay::broker
