#include "broker/receipts.h"

#include "records/short_id.h"

namespace relay::broker {

using protocol::ReceiptStatus;

void Receipts::on_ack(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto ack = protocol::parse_ack(envelope.payload);
  if (!ack) return connections_.send_error(connection, protocol::ErrorCode::BadRequest, ack.error().message());
  if (!ack->correlation_id.empty()) blocking_.answer_with_ack(connection, *ack, envelope.payload);
  AgentState* agent = connection.query_only ? nullptr : agents_.find(connection.agent->value());
  const auto key = records::key_of_delivery_id(ack->ack_id);
  if (agent == nullptr || !key) return;
  if (!agent->session->capabilities.queue) {  // the session is the agent itself, so the delivery is delivered
    if (const auto item = agent->mailbox.finish(*key)) {
      settlement_.complete(*agent, *item, {.key = *key, .proof = records::Proof::Accepted});
      return deliveries_.deliver_pending(*agent);
    }
  }
  const protocol::Receipt receipt{.status = ReceiptStatus::Delivered, .delivery_id = ack->ack_id};
  if (agent->mailbox.is_in_flight(*key)) return apply(*agent, *key, receipt);
  if (agent->session->capabilities.modes) return late_receipts_.on_receipt(*agent, *key, receipt);
  deliveries_.deliver_pending(*agent);  // it was acknowledged before, or has expired
}

void Receipts::on_nack(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto nack = protocol::parse_nack(envelope.payload);
  if (!nack) return connections_.send_error(connection, protocol::ErrorCode::BadRequest, nack.error().message());
  AgentState* agent = connection.query_only ? nullptr : agents_.find(connection.agent->value());
  const auto key = records::key_of_delivery_id(nack->nack_id);
  if (agent == nullptr || !key) return;
  const auto item = agent->mailbox.finish(*key);
  if (!item) return;
  settlement_.apply_nack(*agent, *item, *nack);
  deliveries_.deliver_pending(*agent);
}

void Receipts::on_receipt(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto receipt = protocol::parse_receipt(envelope.payload);
  if (!receipt) return connections_.send_error(connection, protocol::ErrorCode::BadRequest, receipt.error().message());
  AgentState* agent = connection.query_only ? nullptr : agents_.find(connection.agent->value());
  const auto key = records::key_of_delivery_id(receipt->delivery_id);
  if (agent == nullptr || !key) return;
  if (agent->mailbox.is_in_flight(*key))
    apply(*agent, *key, *receipt);
  else
    late_receipts_.on_receipt(*agent, *key, *receipt);
}

void Receipts::apply(AgentState& agent, Key key, const protocol::Receipt& receipt) {
  if (settlement_.apply(agent, key, receipt)) deliveries_.deliver_pending(agent);
}

}  // namespace relay::broker
