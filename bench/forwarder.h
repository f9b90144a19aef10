/// The yardstick: a process that copies whatever comes on one socket to another. Two hops, no thought.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "peer.h"

namespace relay::bench {

struct Forwarder {
  Forwarder(Peer sender_end, Peer receiver_end, pid_t child)
      : sender{std::move(sender_end)}, receiver{std::move(receiver_end)}, pid{child} {}
  Forwarder(Forwarder&& other) noexcept
      : sender{std::move(other.sender)}, receiver{std::move(other.receiver)}, pid{std::exchange(other.pid, 0)} {}
  Forwarder& operator=(Forwarder&&) = delete;
  ~Forwarder();

  static Result<Forwarder> start();

  Peer sender;
  Peer receiver;
  pid_t pid;
};

}  // namespace relay::bench
