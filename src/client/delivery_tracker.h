/// The unsettled deliveries of a session, and the last receipt of each settled one.
///
/// Why: the daemon repeats a delivery until it gets a receipt, and a receipt can be lost with the connection. An
///   unsettled delivery is not passed on again; a settled one is answered with the same receipt again.
/// Invariants: a delivery is identified by its id, which stays the same when it moves to another lane or is requeued.
///   At most kMaxUnacknowledged are unsettled, and as many last receipts are stored (the oldest is dropped first).
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
  /// Null for a delivery that is not unsettled.
  [[nodiscard]] const DeliveryRef* find(std::string_view id) const;
  /// Null for a delivery that was not settled here.
  [[nodiscard]] const protocol::Receipt* last_receipt(std::string_view id) const;

  /// Makes it unsettled and drops the receipt of an earlier attempt.
  void take(const DeliveryRef& ref);
  /// An unsettled delivery has another position.
  void move(const DeliveryRef& ref);
  /// The daemon repeated an unsettled delivery on this connection.
  void on_resent(std::string_view id);
  /// Settles it as delivered, by a plain ACK. Returns its position, or nothing if it was not unsettled.
  std::optional<DeliveryRef> acknowledge(std::string_view id);
  /// True when its last receipt was an ACK.
  [[nodiscard]] bool acknowledged(std::string_view id) const;

  /// The receipt to send now: nothing for a settled delivery, unless it is a stronger proof of its delivery.
  std::optional<protocol::Receipt> report(std::string_view id, protocol::Receipt receipt);
  /// A settled delivery was repeated: should its last receipt be resent? Not when the receipt returned the delivery
  /// and the daemon sent the delivery on this connection: it has that receipt and would apply another to the next
  /// attempt.
  bool should_resend(std::string_view id);
  /// Receipts of earlier connections may be lost: queues the newest kMaxResends of those that ended a delivery. The
  /// daemon does not repeat a delivery that ended otherwise meanwhile.
  void on_new_connection();
  /// The last receipt could not be sent, and the daemon may not repeat the delivery.
  void queue_resend(std::string_view id);
  std::vector<protocol::Receipt> take_resends();

  void clear();

 private:
  struct Unsettled {
    DeliveryRef ref;
    bool on_this_connection = true;  // the daemon sent it on this connection
  };
  struct LastReceipt {
    protocol::Receipt receipt;
    bool reported = false;  // to a daemon that sent the delivery on this connection
    bool by_ack = false;    // sent as an ACK
  };
  void remember(LastReceipt last);

  std::map<std::string, Unsettled, std::less<>> unsettled_;
  std::map<std::string, LastReceipt, std::less<>> last_receipts_;
  std::deque<std::string> by_age_;  // the ids of last_receipts_, oldest first
  std::set<std::string, std::less<>> resends_;
};

}  // namespace relay::client
