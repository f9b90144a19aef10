/// What happened here and the daemon has not answered yet: events, numbered `<epoch>-<n>`, in order, in memory.
///
/// Events are worth less than messages: they are lost with the program, and when there is no room the newest is refused.
/// The daemon takes numbers of one epoch in order only, so there is one cursor, as in Transmission: it runs forward,
/// falls back to an entry that was refused for now, and starts over with every connection.
///
/// Invariants: at most kMaxEvents entries and kMaxEventBytes; at most kMaxUnanswered of them are out at a time, and one
///   alone until the first was answered on this connection: a daemon that does not know events sees no more than that.
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
  std::uint64_t acked = 0;    // and taken by the daemon
  std::uint64_t refused = 0;  // by the daemon, for good
  std::size_t waiting = 0;
};

class EventQueue {
 public:
  /// The id it got; an error when there is no room.
  Result<std::string> add(std::string payload, Random& random);

  /// The next one that may go out now.
  [[nodiscard]] const QueuedEvent* next() const;
  /// The next one, however many are unanswered: there will be no later. None to a daemon that never answered.
  [[nodiscard]] const QueuedEvent* last_chance() const;
  void sent(const QueuedEvent& event) { cursor_ = event.number; }

  enum class EventResult : std::uint8_t { Taken, Refused };
  /// False when none of that id waits.
  bool answered(std::string_view id, EventResult answer);
  /// It, and those behind it, are to go out again. False when none of that id waits.
  bool on_retryable_nack(std::string_view id);
  void on_new_connection() { cursor_ = 0, answers_ = false; }

  [[nodiscard]] bool has(std::string_view id) const { return find(id) != entries_.end(); }
  /// Those that the daemon has not answered, in order.
  [[nodiscard]] const std::deque<QueuedEvent>& waiting() const { return entries_; }
  [[nodiscard]] EventCounts counts() const { return {told_, refused_, entries_.size()}; }

 private:
  using Entries = std::deque<QueuedEvent>;  // ascending numbers
  [[nodiscard]] Entries::const_iterator find(std::string_view id) const;
  [[nodiscard]] Entries::const_iterator after_cursor() const;

  std::string epoch_;  // made with the first
  std::uint64_t next_ = 1, cursor_ = 0;
  std::uint64_t told_ = 0, refused_ = 0;
  std::size_t bytes_ = 0;
  bool answers_ = false;  // the daemon has, on this connection
  Entries entries_;
};

}  // namespace relay::client
