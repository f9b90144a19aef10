#include "client/outbox_sender.h"

#include <algorithm>

namespace relay::client {

const OutboxEntry* OutboxSender::next() const {
  const auto* entry = outbox_.after(cursor_);
  if (!entry || !outbox_.epoch().empty()) return entry;
  return outbox_.position_of(*entry) < kMaxUnansweredWithoutEpoch ? entry : nullptr;
}

Millis OutboxSender::on_retryable_nack(const OutboxEntry& entry, Millis wanted) {
  cursor_ = std::min(cursor_, entry.number - 1);
  const auto delay = std::clamp(wanted, retry_, std::max(kMaxRetry, retry_));
  retry_ = std::min(retry_ * 2, kMaxRetry);
  return delay;
}

}  // namespace relay::client
