#include "broker/delivery_frame.h"

#include "base/format.h"
#include "protocol/envelope.h"
#include "protocol/send.h"
#include "records/short_id.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::MessageType;
using records::FrameKind;

namespace {

/// The members of `data` that published clients expect, without braces.
std::string spliced_members(const records::Delivery& delivery, const records::Message& message) {
  std::string members;
  if (delivery.queued_offline) members = format(R"("_offlineQueued":true,"_queuedAt":{})", message.ts);
  if (delivery.frame_kind == FrameKind::ShadowIncoming || delivery.frame_kind == FrameKind::ShadowOutgoing) {
    if (!members.empty()) members += ',';
    members += R"("_shadowCopy":true,"_shadowOf":)";
    text::append_json_string(members, delivery.shadow_of);
    members += format(R"(,"_shadowDirection":"{}")",
                      delivery.frame_kind == FrameKind::ShadowIncoming ? "incoming" : "outgoing");
  }
  return members;
}

protocol::DeliveryMode requested_mode(const records::Message& message) {
  if (message.payload_meta.find("\"delivery\"") == std::string::npos) return protocol::DeliveryMode::OnIdle;
  const auto meta = protocol::parse_send_meta(message.payload_meta);
  return meta && meta->delivery ? meta->delivery->mode : protocol::DeliveryMode::OnIdle;
}

}  // namespace

std::string delivery_frame(const AgentState& agent, const OutboundDelivery& outbound) {
  const auto& delivery = outbound.delivery;
  const auto& message = *outbound.message;
  std::string_view payload = message.payload;
  std::string spliced;
  if (const std::string members = spliced_members(delivery, message); !members.empty()) {
    if (const auto view = protocol::parse_send(payload)) {
      spliced = protocol::splice_data(payload, *view, members);
      payload = spliced;
    }
  }
  const bool channel = delivery.frame_kind == FrameKind::ChannelMessage;
  const bool own_address = channel || message.to == agent.name().value() || message.to == protocol::kConsensus;
  const std::string id = records::delivery_id(delivery.key);
  const std::string message_id = records::short_id(message.key);
  const std::string block = protocol::write_delivery({
      .seq = delivery.seq.value(),
      .session_id = agent.session->id.value(),
      .original_to = own_address ? std::string_view{} : std::string_view{message.to},
      .as_user = message.as_user() && agent.session->capabilities.send_ack,
      .message_id = message_id,
      .lane = delivery.lane,
      .mode = requested_mode(message) == delivery.lane.mode ? std::nullopt : std::optional{delivery.lane.mode},
      .attempt = delivery.attempts + 1,
      .expires_at = agent.session->capabilities.modes ? std::optional{delivery.expires_at} : std::nullopt,
  });
  return protocol::write_envelope({
      .type = channel ? MessageType::ChannelMessage : MessageType::Deliver,
      .id = id,
      .ts = message.ts,
      .from = message.from.value(),
      .to = channel ? std::string_view{} : std::string_view{agent.name().value()},
      .topic = message.topic.value(),
      .payload = payload,
      .payload_meta = message.payload_meta,
      .delivery = block,
  });
}

}  // namespace relay::broker
