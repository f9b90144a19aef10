/// ACK, NACK and RECEIPT of sessions.
/// Threading: the broker's.
#pragma once

#include "broker/blocking_requests.h"
#include "broker/deliveries.h"
#include "broker/late_receipts.h"
#include "broker/settlement.h"

namespace relay::broker {

class Receipts {
 public:
  Receipts(Connections& connections, Agents& agents, BlockingRequests& blocking, Settlement& settlement,
           Deliveries& deliveries, LateReceipts& late_receipts)
      : connections_{connections},
        agents_{agents},
        blocking_{blocking},
        settlement_{settlement},
        deliveries_{deliveries},
        late_receipts_{late_receipts} {}

  void on_ack(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_nack(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_receipt(ConnectionState& connection, const protocol::Envelope& envelope);

 private:
  void apply(AgentState& agent, Key key, const protocol::Receipt& receipt);

  Connections& connections_;
  Agents& agents_;
  BlockingRequests& blocking_;
  Settlement& settlement_;
  Deliveries& deliveries_;
  LateReceipts& late_receipts_;
};

}  // namespace relay::broker
