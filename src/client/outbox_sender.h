/// What of the outbox has gone out on this connection, and when to go on.
///
/// The daemon takes numbers of one outbox in order only; after a retryable refusal everything behind it is refused too
/// until that one has come again. So there is one cursor: it runs forward through the outbox, falls back to the refused
/// entry, and starts over with every connection. Repeating what was taken already is harmless.
/// Pure but for the outbox it looks at. Threading: one thread.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "client/outbox.h"

namespace relay::client {

inline constexpr Millis kFirstRetry{50};
inline constexpr Millis kMaxRetry{5'000};
/// Without an epoch the daemon recognises repetitions in a window of recent ids; stay well inside it.
inline constexpr std::size_t kMaxUnansweredWithoutEpoch = 256;

class OutboxSender {
 public:
  explicit OutboxSender(const Outbox& outbox) : outbox_{outbox} {}

  void on_new_connection() { cursor_ = 0; }

  /// The next entry to send, if there is one that may go.
  [[nodiscard]] const OutboxEntry* next() const;
  void sent(const OutboxEntry& entry) { cursor_ = entry.number; }

  /// The daemon took or refused an entry for good.
  void on_answered() { retry_ = kFirstRetry; }

  /// Refused for now: begin again there, after this long.
  Millis on_refused_for_now(const OutboxEntry& entry, Millis wanted);

 private:
  const Outbox& outbox_;
  std::uint64_t cursor_ = 0;
  Millis retry_ = kFirstRetry;
};

}  // namespace relay::client
