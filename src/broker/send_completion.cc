#include "broker/send_completion.h"

#include "base/format.h"
#include "broker/lanes.h"
#include "records/short_id.h"

namespace relay::broker {

using protocol::MessageType;
using protocol::NackCode;

void SendCompletion::on_send_failed(PendingSend& sent, std::string_view why) {
  replies_.forget(sent);
  blocking_.forget(*sent.message);
  for (const auto& delivery : sent.deliveries) {
    AgentState* to = agents_.find(delivery.to.value());
    if (to == nullptr) continue;
    to->mailbox.settle_one();
    if (delivery.hold != records::Hold::None) to->mailbox.release_one();
  }
  if (ConnectionState* connection = connections_.find(sent.connection); connection != nullptr && connection->is_open())
    replies_.refuse(*connection, sent.id, NackCode::Storage,
                    format("the message could not be stored: {}; try again", why), kStorageRetryMs);
}

void SendCompletion::on_send_committed(PendingSend& sent) {
  ConnectionState* connection = connections_.find(sent.connection);
  agents_.count_sent(sent.message->from);
  const std::string ack = sent.answer && connection != nullptr && connection->is_open() ? ack_payload(sent) : "";
  if (!ack.empty() && sent.receipts) receipts_.await(*connection, sent);
  const auto answered = blocking_.answer_with(*sent.message);
  for (auto& delivery : sent.deliveries) {
    AgentState* to = agents_.find(delivery.to.value());
    if (to == nullptr || delivery.hold != records::Hold::None) continue;
    // A requester without a session, such as the command line, has the answer from the ACK above.
    if (answered == delivery.to && !to->connected())
      settlement_.complete(*to, InFlight{.outbound = {delivery, sent.message}},
                           {.key = delivery.key, .proof = records::Proof::Accepted, .via = "answer"});
    else
      deliveries_.deliver_committed(*to, {std::move(delivery), sent.message});
  }
  if (!ack.empty()) connections_.send_new(*connection, MessageType::Ack, ack);
  for (const auto& refused : sent.refused)
    receipts_.send(
        sent.message->key,
        {.key = refused.delivery.key, .state = refused.delivery.state, .at = context_.wall(), .reason = refused.reason},
        refused.code);
  for (const auto& delivery : sent.deliveries) {
    if (delivery.hold != records::Hold::Policy) continue;
    receipts_.send(sent.message->key, {.key = delivery.key,
                                       .state = delivery.state,
                                       .proof = delivery.proof,
                                       .at = context_.wall(),
                                       .reason = policy_reason(delivery.to),
                                       .hold = delivery.hold});
  }
}

/// For a message with one recipient it includes the state of the delivery before DELIVER is sent.
std::string SendCompletion::ack_payload(const PendingSend& sent) {
  protocol::Ack ack;
  ack.ack_id = sent.id;
  ack.short_id = records::short_id(sent.message->key);
  ack.recipients = sent.deliveries.size();
  if (sent.deliveries.size() == 1) {
    const auto& only = sent.deliveries.front();
    ack.seq = only.seq.value();
    ack.delivery_id = records::delivery_id(only.key);
    const AgentState* to = agents_.find(only.to.value());
    const bool is_direct = sent.message->to == only.to.value();  // not by a channel, a topic or a broadcast
    if (to != nullptr && !to->connected()) {
      if (is_direct)
        ack.offline_since = to->offline_since();
      else
        ack.pending_reason = format("its only recipient, {}, is offline", only.to.value());
    }
    if (to != nullptr && to->connected()) {
      ack.pending_reason = only.hold == records::Hold::Policy ? policy_reason(only.to) : block_reason(*to, only.lane);
      if (ack.pending_reason.empty() && only.lane.mode == protocol::DeliveryMode::Manual)
        ack.pending_reason = manual_reason(only.to);
      if (ack.pending_reason.empty() && to->activity->state.state == "blocked")
        ack.pending_reason =
            format("{} has a prompt for its user; {}", only.to.value(),
                   to->observed() ? "answer it at its own terminal" : "see agent-relay permissions and questions");
    }
    if (const auto best = to != nullptr && sent.steps ? best_proof(*to) : std::nullopt) ack.proves = name_of(*best);
  }
  return protocol::write_ack(ack);
}

void SendCompletion::before_retry(PendingSend& sent) {
  std::erase_if(sent.deliveries, [this](const records::Delivery& delivery) {
    const AgentState* to = agents_.find(delivery.to.value());
    return to == nullptr || to->removing;
  });
}

void SendCompletion::on_history_saved(const records::ChangeDelivery& entry, const ReceiptContext* context) {
  if (records::is_final(entry.state)) changes_during_read_.stored(DeliveryChange::Finished, entry.key);
  if (entry.hold == records::Hold::Time) changes_during_read_.stored(DeliveryChange::Deferred, entry.key);
  if (context != nullptr) receipts_.send(context->message->key, entry, context->code);
}

void SendCompletion::on_store_recovered() {
  held_.on_store_recovered();
  for (auto& [name, agent] : agents_.all()) {
    unsupported_.scan(agent);
    deliveries_.deliver_pending(agent);
  }
}

}  // namespace relay::broker
