/// The events that the daemon has not answered yet, numbered `<epoch>-<n>`, in order, in memory.
///
/// Events matter less than messages: they are lost when the program ends, and a full queue refuses the newest. The
/// daemon takes the numbers of an epoch in order only, so there is one cursor, as in OutboxSender: it runs forward,
/// falls back to an entry with a retryable NACK, and restarts with every connection.
///
/// Invariants: at most kMaxEvents entries and kMaxEventBytes. At most kMaxUnanswered are sent and unanswered, and only
///   one until the first response on this connection: a daemon without events gets no more than that one.
/// Pure. Threading: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/result.h"

namespace relay::client {

inline constexpr std::size_t kMaxEvents = 1'000;
inline constexpr std::size_t kMaxEventBytes = 1 << 20;
inline constexpr std::size_t kMaxUnanswered = 64;

struct QueuedEvent {
  std::uint64_t number = 0;
  std::string id;
  std::string payload;
};

struct EventCounts {
  std::uint64_t acked = 0;    // stored by the daemon
  std::uint64_t refused = 0;  // permanently
  std::size_t waiting = 0;
};

class EventQueue {
 public:
  /// Returns its id; an error when the queue is full.
  Result<std::string> add(std::string payload, Random& random);

  /// The next event that may be sent now.
  [[nodiscard]] const QueuedEvent* next() const;
  /// The next event regardless of kMaxUnanswered, before BYE. None for a daemon that never answered.
  [[nodiscard]] const QueuedEvent* last_chance() const;
  void sent(const QueuedEvent& event) { cursor_ = event.number; }

  enum class EventResult : std::uint8_t { Taken, Refused };
  /// False for an unknown id.
  bool answered(std::string_view id, EventResult answer);
  /// This event and the later ones are sent again. False for an unknown id.
  bool on_retryable_nack(std::string_view id);
  void on_new_connection() { cursor_ = 0, daemon_answers_ = false; }

  [[nodiscard]] bool has(std::string_view id) const { return find(id) != entries_.end(); }
  /// The unanswered events, in order.
  [[nodiscard]] const std::deque<QueuedEvent>& waiting() const { return entries_; }
  [[nodiscard]] EventCounts counts() const { return {acked_, refused_, entries_.size()}; }

 private:
  using Entries = std::deque<QueuedEvent>;  // ascending numbers
  [[nodiscard]] Entries::const_iterator find(std::string_view id) const;
  [[nodiscard]] Entries::const_iterator after_cursor() const;

  std::string epoch_;  // made with the first event
  std::uint64_t next_ = 1, cursor_ = 0;
  std::uint64_t acked_ = 0, refused_ = 0;
  std::size_t bytes_ = 0;
  bool daemon_answers_ = false;  // it answered an event on this connection
  Entries entries_;
};

}  // namespace relay::client
