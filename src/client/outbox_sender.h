/// The cursor through the outbox on the current connection, and the retry delay.
///
/// The daemon takes the numbers of an outbox in order only; after a retryable NACK it refuses every later number until
/// that one is sent again. So there is one cursor: it runs forward through the outbox, falls back to the refused entry,
/// and restarts with every connection. Sending an entry twice is harmless.
/// Pure but for the outbox that it reads. Threading: one thread.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "client/outbox.h"

namespace relay::client {

inline constexpr Millis kFirstRetry{50};
inline constexpr Millis kMaxRetry{5'000};
/// Without an epoch the daemon recognizes duplicates in a window of recent ids; this stays well within it.
inline constexpr std::size_t kMaxUnansweredWithoutEpoch = 256;

class OutboxSender {
 public:
  explicit OutboxSender(const Outbox& outbox) : outbox_{outbox} {}

  void on_new_connection() { cursor_ = 0; }

  /// The next entry that may be sent; null when there is none.
  [[nodiscard]] const OutboxEntry* next() const;
  void sent(const OutboxEntry& entry) { cursor_ = entry.number; }

  /// The daemon stored an entry or refused it permanently.
  void on_answered() { retry_ = kFirstRetry; }

  /// Returns the delay after which transmission resumes at this entry.
  Millis on_retryable_nack(const OutboxEntry& entry, Millis wanted);

 private:
  const Outbox& outbox_;
  std::uint64_t cursor_ = 0;
  Millis retry_ = kFirstRetry;
};

}  // namespace relay::client
