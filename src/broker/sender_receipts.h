/// Receipts that senders asked for: which sent messages have deliveries without an end.
///
/// Bounds: kMaxWatchedMessages per connection. Of delivered messages that may still be seen, the newest kMaxFollowed per
///   connection are followed.
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
  /// A RECEIPT to the sender that awaits it.
  void send(Key message, const records::ChangeDelivery& entry, std::optional<protocol::NackCode> code = {});
  /// The recipient was removed; its deliveries are cancelled.
  void cancel_deliveries_to(const AgentName& agent, WallMs at);
  void forget(const ConnectionState& sender);

 private:
  struct Awaited {
    ConnectionId connection;
    std::string id;
    std::map<Key, AgentName> open;  // deliveries without an end yet
    bool steps = false;             // a receipt for every change, not only for the end
    std::set<Key> delivered = {};   // of the open ones, those that may still be seen
    bool followed = false;          // all of the open ones are delivered
  };
  using Table = std::map<Key, Awaited>;  // by message
  void end(Table::iterator awaited);

  Connections& connections_;
  Table awaited_;
};

}  // namespace relay::broker
