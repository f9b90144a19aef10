/// Limits the uncommitted bytes of each connection; beyond the limit it is not read.
///
/// Invariant: a connection that is paused for this is resumed when at most half of its share is uncommitted.
/// Threading: the broker's.
#pragma once

#include <cstddef>
#include <set>

#include "broker/active_senders.h"
#include "broker/connections.h"
#include "broker/context.h"

namespace relay::broker {

class CommitBudget {
 public:
  CommitBudget(Context& context, Connections& connections) : context_{context}, connections_{connections} {}

  /// Charges the sender of a message.
  void charge_message(ConnectionState& connection, std::size_t bytes);
  void charge(ConnectionState& connection, std::size_t bytes, std::size_t limit);
  /// The bytes are committed, or their commit failed. The connection may be closed.
  void release(ConnectionState* connection, std::size_t bytes);
  void release(ConnectionId connection, std::size_t bytes) { release(connections_.find(connection), bytes); }
  [[nodiscard]] bool is_paused(ConnectionId connection) const { return paused_.contains(connection); }
  /// Called once after all releases of a commit.
  void resume_released();
  void forget(ConnectionId connection) { paused_.erase(connection); }

 private:
  [[nodiscard]] std::size_t fair_share() const;

  Context& context_;
  Connections& connections_;
  ActiveSenders senders_;
  std::size_t total_ = 0;
  std::set<ConnectionId> paused_;
  bool released_ = false;  // since `resume_released`
};

}  // namespace relay::broker
