/// A member of a shared record that one part alone can reach.
///
/// Why in the shared record: a message touches the records of its sender and its recipient. A table of its own for every
///   part would cost a lookup by name for each of them.
#pragma once

namespace relay::broker {

template <class Part, class State>
class Owned {
  friend Part;
  State* operator->() { return &state_; }
  const State* operator->() const { return &state_; }
  State& operator*() { return state_; }
  const State& operator*() const { return state_; }

  State state_{};
};

}  // namespace relay::broker
