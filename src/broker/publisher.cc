#include "broker/publisher.h"

#include <algorithm>

#include "base/format.h"
#include "broker/lanes.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::NackCode;
using records::FrameKind;

std::optional<Rejection> Publisher::check_streams(const Topic& topic, const AgentName& from, protocol::Lane lane,
                                                  const Audience& audience) {
  const bool full = streams_.size() + audience.size() > context_.limits().max_streams;
  if (topic.value().empty() && !full) return std::nullopt;
  const auto added = static_cast<std::size_t>(std::ranges::count_if(
      audience, [&](const AgentState* to) { return !streams_.contains(topic, from, to->name(), lane); }));
  if (added == 0) return std::nullopt;
  const auto idle = [&](const AgentName& to) {
    const AgentState* agent = agents_.find(to.value());
    return agent == nullptr || agent->mailbox.pending() == 0;
  };
  if (!topic.value().empty() && !streams_.make_room(from, added, idle))
    return Rejection{NackCode::Busy,
                     format("messages of {} about {} topics are already pending; use fewer topics, or try again later",
                            from.value(), context_.limits().max_topic_streams),
                     kStorageRetryMs};
  if (!full) return std::nullopt;
  streams_.shrink_to(context_.limits().max_streams - std::min(context_.limits().max_streams, audience.size()), idle);
  if (streams_.size() + audience.size() <= context_.limits().max_streams) return std::nullopt;
  return Rejection{NackCode::BadRequest,
                   format("{} pairs of agents and topics already have numbers; use fewer topics", streams_.size())};
}

std::optional<Rejection> Publisher::check_stream(const AgentName& from, const AgentName& to, std::size_t others) const {
  if (streams_.size() + others < context_.limits().max_streams || streams_.contains({}, from, to, {}))
    return std::nullopt;
  return Rejection{NackCode::Busy, format("{} pairs of agents already have numbers", streams_.size())};
}

void Publisher::add_message(PendingSend& pending, const Audience& audience, FrameKind frame_kind, protocol::Lane lane,
                            WallMs expires_at) {
  commits_.emplace_change<records::AddMessage>(*pending.message);
  pending.deliveries.reserve(audience.size());
  for (AgentState* agent : audience)
    add_delivery(pending, *agent, {.frame_kind = frame_kind, .lane = lane, .expires_at = expires_at});
  if (frame_kind == FrameKind::Deliver) add_shadow_copies(pending, audience, expires_at);
}

void Publisher::add_delivery(PendingSend& pending, AgentState& to, const CopyOptions& options) {
  const Key key = context_.next_key();
  records::Delivery delivery{
      .key = key,
      .message = pending.message->key,
      .from = pending.message->from,
      .to = to.name(),
      .lane = options.lane,
      .rank = key,
      .seq = streams_.next(pending.message->topic, pending.message->from, to.name(), options.lane),
      .frame_kind = options.frame_kind,
      .shadow_of = options.shadow_of,
      .state = records::DeliveryState::Queued,
      .proof = records::Proof::Stored,
      .expires_at = options.expires_at,
      .queued_offline = !to.connected(),
  };
  const auto policy = decide(to.record->policy, pending.message->from.value());
  const bool full = to.mailbox.pending() >= context_.limits().max_backlog;
  if (policy == protocol::DeliveryPolicyAction::Refuse || full) {
    // One of several recipients cannot take it. The others still receive it, and the history has the reason.
    delivery.state = records::DeliveryState::Failed;
    std::string reason = full ? "it already has too many pending messages" : "its policy refuses them";
    commits_.change(records::AddDelivery{delivery, reason});
    pending.refused.push_back({std::move(delivery), std::move(reason), full ? NackCode::Busy : NackCode::Refused});
    return;
  }
  to.mailbox.add_pending();
  expiry_.arm(options.expires_at);
  std::string reason;
  if (policy == protocol::DeliveryPolicyAction::Hold) {
    to.mailbox.add_held();
    delivery.hold = records::Hold::Policy;
    delivery.state = records::DeliveryState::Deferred;
    reason = policy_reason(to.name());
  }
  commits_.change(records::AddDelivery{delivery, std::move(reason)});
  pending.deliveries.push_back(std::move(delivery));
}

void Publisher::add_shadow_copies(PendingSend& pending, const Audience& audience, WallMs expires_at) {
  if (!audiences_.has_shadows()) return;
  const auto copy_for = [&](const AgentName& primary, bool incoming) {
    const Audiences::Names* shadows = audiences_.shadows_of(primary);
    if (shadows == nullptr) return;
    for (const AgentName& name : *shadows) {
      AgentState* shadow = agents_.find(name.value());
      if (shadow == nullptr || shadow->removing || name == pending.from ||
          std::ranges::find(audience, shadow) != audience.end())
        continue;
      for (const auto& binding : Audiences::bindings_of(*shadow)) {
        if (binding.primary != primary || !(incoming ? binding.incoming : binding.outgoing)) continue;
        add_delivery(pending, *shadow,
                     {.frame_kind = incoming ? FrameKind::ShadowIncoming : FrameKind::ShadowOutgoing,
                      .lane = {},
                      .expires_at = expires_at,
                      .shadow_of = primary.value()});
      }
    }
  };
  copy_for(pending.from, false);
  for (const AgentState* agent : audience) copy_for(agent->name(), true);
}

void Publisher::post(std::string_view from, const Audience& audience, std::string_view kind, std::string_view body,
                     std::string_view data, std::string_view thread) {
  if (audience.empty()) return;
  text::JsonWriter payload;
  payload.field("kind", kind).field("body", body).raw("data", data).optional("thread", thread);
  records::Message message;
  message.from = AgentName{std::string{from}};
  message.to = audience.size() == 1 ? audience.front()->name().value() : std::string{protocol::kConsensus};
  message.kind = kind;
  message.thread = thread;
  message.payload = payload.take();
  post(std::move(message), audience, Copies::None);
}

Key Publisher::post(records::Message own, const Audience& audience, Copies copies) {
  own.key = context_.next_key();
  own.id = context_.fresh_id();
  own.ts = context_.wall();
  const auto message = std::make_shared<const records::Message>(std::move(own));
  PendingSend pending{.connection = {},
                      .id = message->id,
                      .from = message->from,
                      .epoch = {},
                      .own = true,
                      .message = message,
                      .deliveries = {}};
  commits_.add_retried_bytes(2 * message->payload.size() + audience.size() * 2 * sizeof(records::Delivery));
  commits_.change(records::AddMessage{*message});
  const WallMs expires_at = context_.wall() + context_.limits().default_ttl_ms;
  for (AgentState* to : audience) add_delivery(pending, *to, {.expires_at = expires_at});
  if (copies == Copies::ForShadows) add_shadow_copies(pending, audience, expires_at);
  commits_.add_send(std::move(pending));
  return message->key;
}

}  // namespace relay::broker
