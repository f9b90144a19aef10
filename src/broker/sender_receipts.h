/// Receipts that senders requested: the sent messages with deliveries that are not final.
///
/// Bounds: kMaxAwaitedMessages per connection, and of delivered messages that may still be seen the newest
///   kMaxDelivered.
/// Threading: the broker's.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "broker/connections.h"
#include "broker/pending.h"

namespace relay::broker {

class SenderReceipts {
 public:
  explicit SenderReceipts(Connections& connections) : connections_{connections} {}

  [[nodiscard]] bool is_awaited(Key message) const { return awaited_.contains(message); }
  void await(ConnectionState& sender, const PendingSend& sent);
  /// Sends RECEIPT to the sender that awaits it, if any.
  void send(Key message, const records::ChangeDelivery& entry, std::optional<protocol::NackCode> code = {});
  /// The recipient was removed; its deliveries are cancelled.
  void cancel_deliveries_to(const AgentName& agent, WallMs at);
  void forget(const ConnectionState& sender);

 private:
  struct Awaited {
    ConnectionId connection;
    std::string id;
    std::map<Key, AgentName> open;  // deliveries that are not final, or may still be seen
    bool steps = false;             // a receipt for every change, not only for the final one
    std::set<Key> delivered = {};   // of the open ones, those that may still be seen
    bool all_delivered = false;     // all open ones may still be seen
  };
  using Table = std::map<Key, Awaited>;  // by message
  void end(Table::iterator awaited);

  Connections& connections_;
  Table awaited_;
};

}  // namespace relay::broker
