/// Completes a SEND after its commit: deliveries, the ACK or NACK to its sender, receipts.
///
/// Invariant: an ACK and a DELIVER are emitted only after the commit that contains the message. DELIVER comes first,
///   because it is on the path to the recipient; the message is already durable.
/// Threading: the broker's.
#pragma once

#include <string>

#include "broker/blocking_requests.h"
#include "broker/commit_pipeline.h"
#include "broker/deliveries.h"
#include "broker/held_deliveries.h"
#include "broker/send_replies.h"
#include "broker/sender_receipts.h"
#include "broker/unsupported_lanes.h"

namespace relay::broker {

class SendCompletion final : public CommitListener {
 public:
  SendCompletion(Context& context, Connections& connections, Agents& agents, ChangesDuringRead& changes_during_read,
                 SendReplies& replies, SenderReceipts& receipts, BlockingRequests& blocking, Settlement& settlement,
                 Deliveries& deliveries, HeldDeliveries& held, UnsupportedLanes& unsupported)
      : context_{context},
        connections_{connections},
        agents_{agents},
        changes_during_read_{changes_during_read},
        replies_{replies},
        receipts_{receipts},
        blocking_{blocking},
        settlement_{settlement},
        deliveries_{deliveries},
        held_{held},
        unsupported_{unsupported} {}

  void on_send_committed(PendingSend& send) override;
  void on_send_failed(PendingSend& send, std::string_view why) override;
  void before_retry(PendingSend& send) override;
  void on_history_saved(const records::ChangeDelivery& entry, const ReceiptContext* context) override;
  [[nodiscard]] bool is_awaited(Key message) const override { return receipts_.is_awaited(message); }
  void on_store_recovered() override;

 private:
  [[nodiscard]] std::string ack_payload(const PendingSend& sent);

  Context& context_;
  Connections& connections_;
  Agents& agents_;
  ChangesDuringRead& changes_during_read_;
  SendReplies& replies_;
  SenderReceipts& receipts_;
  BlockingRequests& blocking_;
  Settlement& settlement_;
  Deliveries& deliveries_;
  HeldDeliveries& held_;
  UnsupportedLanes& unsupported_;
};

}  // namespace relay::broker
