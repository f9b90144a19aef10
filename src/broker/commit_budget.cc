#include "broker/commit_budget.h"

#include <algorithm>
#include <utility>

namespace relay::broker {

std::size_t CommitBudget::fair_share() const {
  const auto& limits = context_.limits();
  return senders_.more_than_one() ? std::min(limits.max_uncommitted_bytes, limits.shared_uncommitted_bytes)
                                  : limits.max_uncommitted_bytes;
}

void CommitBudget::charge_message(ConnectionState& connection, std::size_t bytes) {
  senders_.on_activity(connection.uncommitted->active_mark, context_.steady());
  charge(connection, bytes, fair_share());
}

void CommitBudget::charge(ConnectionState& connection, std::size_t bytes, std::size_t limit) {
  connection.uncommitted->bytes += bytes;
  total_ += bytes;
  if (connection.uncommitted->bytes <= limit && total_ <= context_.limits().max_uncommitted_total) return;
  connections_.pause(connection, Pause::Uncommitted);
  paused_.insert(connection.id);
}

void CommitBudget::release(ConnectionState* connection, std::size_t bytes) {
  total_ -= bytes;
  if (connection != nullptr) connection->uncommitted->bytes -= bytes;
  released_ = true;
}

void CommitBudget::resume_released() {
  if (!std::exchange(released_, false) || total_ > context_.limits().max_uncommitted_total / 2) return;
  const auto enough = fair_share() / 2;
  for (auto place = paused_.begin(); place != paused_.end();) {
    ConnectionState* paused = connections_.find(*place);
    if (paused != nullptr && paused->uncommitted->bytes > enough) {
      ++place;
      continue;
    }
    place = paused_.erase(place);
    if (paused != nullptr) connections_.resume(*paused, Pause::Uncommitted);
  }
}

}  // namespace relay::broker
