/// The deliveries that are in the program's hands, and the last word about those that are not any more.
///
/// Why: the daemon repeats a delivery until it has heard of it, and what we say may be lost with the connection. What is
///   in hand is not handed up again; what has left the hand is answered with the same words as before.
/// Invariants: a delivery is known by its id, which it keeps when it is moved to another lane or put back for later. At
///   most kMaxUnacknowledged are in hand, and of as many the last word is remembered (the oldest is forgotten first).
/// Pure. Threading: one thread.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/stream_positions.h"
#include "protocol/limits.h"
#include "protocol/send.h"

namespace relay::client {

inline constexpr std::size_t kMaxUnacknowledged = protocol::kMaxInflight;
inline constexpr std::size_t kMaxResends = 32;

class DeliveryTracker {
 public:
  [[nodiscard]] std::vector<std::string> ids() const;
  [[nodiscard]] bool full() const { return unsettled_.size() >= kMaxUnacknowledged; }
  /// Where it stands, when it is in hand.
  [[nodiscard]] const DeliveryRef* find(std::string_view id) const;
  /// The last word about one that is not in hand any more.
  [[nodiscard]] const protocol::Receipt* last_receipt(std::string_view id) const;

  /// In hand from now on; what was said about an earlier attempt does not count for this one.
  void take(const DeliveryRef& place);
  /// In hand already: the same delivery at another place.
  void move(const DeliveryRef& place);
  /// In hand already: the daemon repeats it on this connection.
  void on_redelivered(std::string_view id);
  /// Delivered, said by a plain ACK: where it stood, or nothing when it was not in hand.
  std::optional<DeliveryRef> acknowledge(std::string_view id);
  /// Was an ACK the last word about it?
  [[nodiscard]] bool acknowledged(std::string_view id) const;

  /// What may be said about it now: nothing when it has left the hand, except a stronger proof of what was delivered.
  std::optional<protocol::Receipt> report(std::string_view id, protocol::Receipt receipt);
  /// It has left the hand and comes again: is the last word about it to be said again? That it is given back is not,
  /// to a daemon that sent it on this connection and hears the word already: it would take it for the next attempt's.
  bool should_resend(std::string_view id);
  /// What the daemon sent and heard on an earlier one counts no more: the newest last words may be lost with it, and are
  /// owed. What they end is not asked for again when it has ended otherwise meanwhile.
  void on_new_connection();
  /// The last word about it could not be said, and nobody will ask for it again.
  void queue_resend(std::string_view id);
  std::vector<protocol::Receipt> take_resends();

  void clear();

 private:
  struct Unsettled {
    DeliveryRef place;
    bool came_here = true;  // on this connection
  };
  struct LastReceipt {
    protocol::Receipt receipt;
    bool heard = false;   // by a daemon that sent the delivery on this connection
    bool by_ack = false;  // said as an ACK, and so again
  };
  void remember(LastReceipt word);

  std::map<std::string, Unsettled, std::less<>> unsettled_;
  std::map<std::string, LastReceipt, std::less<>> last_words_;
  std::deque<std::string> by_age_;  // the ids of last_words_, oldest first
  std::set<std::string, std::less<>> owed_;
};

}  // namespace relay::client
