// SEND: is it allowed, who hears it; stored first, answered after (answering.cc).
#include <algorithm>

#include "base/format.h"
#include "base/hash.h"
#include "base/nearest.h"
#include "broker/core.h"
#include "records/short_id.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;
using protocol::NackCode;
using records::FrameKind;

namespace {

/// Kinds that only tell how things stand: nobody answers them, and no agent is woken for them.
bool wakes(std::string_view kind) { return kind != "state" && kind != "ack"; }

}  // namespace

bool Core::admit_one_shot(ConnectionState& connection, const protocol::Envelope& envelope) {
  if (envelope.from.empty() || envelope.to.empty()) {
    error(connection, ErrorCode::BadRequest, "SEND before HELLO: say HELLO first, or give both 'from' and 'to'");
    return false;
  }
  connection.phase = Phase::OneShot;
  check_system_token(connection, envelope.claim_token);
  if (const auto objection = check_one_shot_sender(connection, envelope.from, envelope.claim_token)) {
    refuse(connection, envelope.id, objection->refusal, objection->sentence, objection->retry_after_ms);
    return false;
  }
  AgentState& guest = register_one_shot_sender(envelope.from);
  if (!guest.connected()) guest.has_user_authority = speaks_as_user(connection, envelope.from);
  return true;
}

std::optional<Core::Rejection> Core::check_one_shot_sender(const ConnectionState& connection, std::string_view name,
                                                           std::string_view claim_token) {
  if (const auto fine = protocol::check_agent_name(name); !fine)
    return Rejection{NackCode::BadRequest, fine.error().message()};
  if (auto refused = check_name_use(connection, name)) return refused;
  const AgentState* known = find_agent(name);
  // No name of an agent locks the user out.
  if (auto reason = confusable_reason(name); !speaks_as_user(connection, name) && !reason.empty())
    return Rejection{NackCode::BadRequest, std::move(reason)};
  if (known == nullptr) {
    if (has_room_for_name()) return std::nullopt;
    return Rejection{NackCode::Busy, format("{} agents are known already; remove one first", agents_.size())};
  }
  if (known->removing) return Rejection{NackCode::Busy, format("'{}' is being removed; try again", name), kBusyRetryMs};
  // The HTTP API shows the system token with what a process inside that agent sends.
  const bool vouched_for = connection.peer.origin.daemon && is_system_token(claim_token);
  const bool speaks_for_it = vouched_for || (!claim_token.empty() &&
                                             equal_in_constant_time(sha256_hex(claim_token), known->record.claim_hash));
  if ((known->connected() || is_claimed(*known)) && !speaks_for_it)
    return Rejection{NackCode::NotOwner, format("'{}' is somebody who is here; send under another name", name)};
  return std::nullopt;
}

AgentState& Core::register_one_shot_sender(std::string_view name) {
  AgentState& guest = add_agent(std::string{name});
  if (!guest.saved) {
    guest.saved = true;
    guest.record.last_seen = now_.wall;
    save_eventually(records::PutAgent{guest.record});
    emit(RosterChanged{});
  }
  see_guest(guest);
  return guest;
}

void Core::on_send(ConnectionState& connection, const protocol::Envelope& envelope, std::size_t frame_bytes) {
  const bool one_shot = connection.phase == Phase::OneShot;
  const AgentName from = one_shot ? AgentName{std::string{envelope.from}} : connection.agent;
  SendContext sending{
      connection, envelope, connection.query_only ? nullptr : find_agent(from.value()), from, frame_bytes, {}, {}, {}};
  if (already_answered(sending)) return;  // first of all: a refusal must count its outbox number
  auto view = protocol::parse_send(envelope.payload);
  if (!view) return refuse(sending, NackCode::BadRequest, view.error().message());
  auto meta = protocol::parse_send_meta(envelope.payload_meta);
  if (!meta) return refuse(sending, NackCode::BadRequest, meta.error().message());
  sending.view = std::move(*view);
  sending.meta = std::move(*meta);

  if (!within_rate(sending) || !fits_a_frame(sending)) return;
  if (envelope.to == protocol::kConsensus) return on_consensus(sending);
  if (envelope.to == protocol::kRouter) return on_membership_update(sending);
  if (const auto late = too_late(sending); !late.empty()) return refuse(sending, NackCode::Expired, late);
  if (is_duplicate_key(sending)) return acknowledge_when_saved(sending);
  if (envelope.to.empty()) return refuse(sending, NackCode::BadRequest, "SEND needs 'to': a name, or '*' for everyone");
  const auto audience = recipients_of(sending);
  if (limits_.explain)
    note(WriteLog::Level::Debug,
         format("message routed id={} from={} to={} topic={} kind={} recipients={}", envelope.id, sending.from.value(),
                envelope.to, envelope.topic, sending.view.kind_name, audience ? audience->size() : 0));
  if (!audience) return refuse(sending, NackCode::UnknownRecipient, audience.error().message());
  if (const auto objection = check_policy_and_loops(sending, *audience)) {
    if (limits_.explain)
      note(WriteLog::Level::Debug, format("message refused id={} code={} reason=\"{}\"", envelope.id,
                                          name_of(objection->refusal), objection->sentence));
    return refuse(sending, objection->refusal, objection->sentence);
  }

  if (sending.meta.sync && sending.meta.sync->blocking && !await_answer(sending)) return;
  accept(sending, envelope.to, *audience, FrameKind::Deliver);
}

std::string_view Core::too_late(const SendContext& sending) const {
  if (sending.meta.ttl_ms && *sending.meta.ttl_ms <= 0)
    return "ttl_ms is used up already; give a positive number of milliseconds";
  if (sending.meta.delivery && sending.meta.delivery->deadline != 0 && sending.meta.delivery->deadline <= now_.wall)
    return "the deadline is over already; give a later one";
  return {};
}

bool Core::is_duplicate_key(SendContext& sending) {
  if (sending.sender == nullptr || !sending.meta.delivery) return false;
  const auto& key = sending.meta.delivery->idempotency_key;
  return !key.empty() && sending.sender->recent_keys.contains(key);
}

std::optional<Core::Rejection> Core::check_policy_and_loops(const SendContext& sending,
                                                            const std::vector<AgentState*>& audience) {
  const std::string_view to = sending.to;
  if (audience.size() == 1 && audience.front()->cannot_be_addressed())
    return Rejection{
        NackCode::Unsupported,
        audience.front()->connected()
            ? format("{} is only observed: it was started without agent-relay, and nothing "
                     "can be delivered to it; start it with: agent-relay run -n NAME {}",
                     to, audience.front()->record.cli)
            : format("{} is only observed and offline; its program may have begun another session, which has another "
                     "name: see agent-relay agents",
                     to)};
  if (audience.size() == 1 && audience.front()->observed() && !speaks_as_user(sending.connection, sending.from.value()))
    return Rejection{
        NackCode::Refused,
        format("{} was started without agent-relay and takes messages of the user alone: what it runs "
               "counts as the user's; to let agents write to it, start it with: agent-relay run -n NAME {}",
               to, audience.front()->record.cli)};
  if (audience.size() == 1 && audience.front()->name().value() == to &&
      decide(audience.front()->record.policy, sending.from.value()) == protocol::DeliveryPolicyAction::Refuse)
    return Rejection{NackCode::Refused, format("{} takes no messages from {}; a person can change that with "
                                               "`agent-relay policy {}`",
                                               to, sending.from.value(), to)};
  if (!limits_.break_loops) return std::nullopt;
  auto loop = loops_.check(loop_view(sending, audience), now_);
  while (const auto trip = loops_.take_trip()) {
    note(WriteLog::Level::Warn, format("the talk of {} to {} was stopped: {}", trip->from, trip->to, trip->reason));
    record_event(events::LoopTripped{.from = trip->from, .to = trip->to, .reason = trip->reason, .until = trip->until},
                 sending.from, sending.connection.session);
  }
  if (!loop) return std::nullopt;
  return Rejection{NackCode::Loop, *std::move(loop)};
}

LoopBreaker::Sent Core::loop_view(const SendContext& sending, const std::vector<AgentState*>& audience) {
  // Published clients mark a question and its answer in `data`.
  const bool asks = (sending.meta.sync && sending.meta.sync->blocking) ||
                    sending.view.data.find("\"_correlationId\"") != std::string_view::npos;
  const bool by_user = speaks_as_user(sending.connection, sending.from.value()) ||
                       (sending.sender != nullptr && sending.sender->record.entity == protocol::EntityType::User);
  const bool for_user =
      !audience.empty() && std::ranges::all_of(audience, [](const AgentState* to) { return stands_for_user(*to); });
  return {.from = by_user ? std::string_view{} : std::string_view{sending.from.value()},
          .to = sending.to,
          .body = sending.view.body,
          .reply_to = sending.meta.reply_to,
          .thread = sending.view.thread,
          .wakes = wakes(sending.view.kind_name) && !asks && !for_user};
}

bool Core::within_rate(SendContext& sending) {
  if (sending.sender == nullptr || sending.sender->bucket.take(now_.steady)) return true;
  const Millis wait = sending.sender->bucket.wait(now_.steady);
  if (sending.connection.wants_answers()) {
    refuse(sending, NackCode::RateLimited,
           format("more than {:.0f} messages per second; slow down", limits_.rate_per_second), wait.count());
    return false;
  }
  // Clients that cannot hear a refusal are slowed instead: this one passes, the next ones are read later.
  sending.sender->bucket.take_anyway(now_.steady);
  pause(sending.connection, Pause::Rate);
  timers_.arm(now_.steady + sending.sender->bucket.wait(now_.steady),
              {.kind = TimerKind::RatePause, .connection = sending.connection.id.value()});
  return true;
}

bool Core::fits_a_frame(SendContext& sending) {
  const std::size_t bytes = sending.envelope.payload.size() + sending.envelope.payload_meta.size();
  constexpr std::size_t kMost = protocol::kMaxFrameBytes - protocol::kEnvelopeReserveBytes;
  if (bytes <= kMost) return true;
  refuse(sending, NackCode::TooLarge,
         format("a message may have {} bytes, this one has {}; send it as a file", kMost, bytes));
  return false;
}

Result<std::vector<AgentState*>> Core::recipients_of(SendContext& sending) {
  const std::string_view to = sending.envelope.to;
  std::vector<AgentState*> audience;
  const auto everyone_who = [&](auto&& fits) {
    for (auto& [name, agent] : agents_) {
      if (agent.name() != sending.from && in_audience(agent) && fits(agent)) audience.push_back(&agent);
    }
    std::ranges::sort(audience, {}, [](const AgentState* agent) -> const AgentName& { return agent->name(); });
  };
  if (to == protocol::kEveryone) {
    const auto topic = topics_.find(std::string{sending.envelope.topic});
    if (sending.envelope.topic.empty())
      everyone_who([](const AgentState&) { return true; });
    else if (topic != topics_.end())
      everyone_who([&](const AgentState& agent) { return topic->second.contains(agent.name()); });
  } else if (to == protocol::kAllUsers) {
    everyone_who([](const AgentState& agent) { return agent.record.entity == protocol::EntityType::User; });
  } else if (to.starts_with('#')) {
    for (const AgentName& name : channel_members(std::string{to})) {
      AgentState* member = name == sending.from ? nullptr : find_agent(name.value());
      if (member != nullptr && hears_channel(*member, to)) audience.push_back(member);
    }
  } else {
    AgentState* agent = find_agent(to);
    if (agent == nullptr || agent->removing) return fail(unknown_recipient(to));
    audience.push_back(agent);
  }
  return audience;
}

std::string Core::unknown_recipient(std::string_view name) const {
  std::vector<std::string_view> known;
  for (const auto& [known_name, agent] : agents_) {
    if (!protocol::is_internal_name(known_name)) known.push_back(known_name);
  }
  std::ranges::sort(known);
  std::string text = format("nobody here is called '{}'", name);
  const auto nearest = nearest_names(name, known);
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    text += format("{}{}", i == 0 ? "; did you mean " : i + 1 == nearest.size() ? " or " : ", ", nearest[i]);
  }
  return text + (nearest.empty() ? "" : "?");
}

std::optional<Core::Rejection> Core::check_streams(const Topic& topic, const AgentName& from, protocol::Lane lane,
                                                   const std::vector<AgentState*>& audience) {
  const bool full = streams_.size() + audience.size() > limits_.max_streams;
  if (topic.value().empty() && !full) return std::nullopt;
  const auto added = static_cast<std::size_t>(std::ranges::count_if(
      audience, [&](const AgentState* to) { return !streams_.contains(topic, from, to->name(), lane); }));
  if (added == 0) return std::nullopt;
  const auto idle = [&](const AgentName& to) {
    const AgentState* agent = find_agent(to.value());
    return agent == nullptr || agent->mailbox.pending == 0;
  };
  if (!topic.value().empty() && !streams_.make_room(from, added, idle))
    return Rejection{
        NackCode::Busy,
        format("messages of {} about {} topics wait for their recipients already; use fewer topics, or try "
               "again later",
               from.value(), limits_.max_topic_streams),
        kStorageRetryMs};
  if (!full) return std::nullopt;
  streams_.shrink_to(limits_.max_streams - std::min(limits_.max_streams, audience.size()), idle);
  if (streams_.size() + audience.size() <= limits_.max_streams) return std::nullopt;
  return Rejection{NackCode::BadRequest,
                   format("{} pairs of agents and topics have numbers already; use fewer topics", streams_.size())};
}

void Core::accept(SendContext& sending, std::string_view to, const std::vector<AgentState*>& audience,
                  FrameKind frame_kind) {
  const bool direct = audience.size() == 1 && audience.front()->name().value() == to;
  if (direct && audience.front()->mailbox.pending >= limits_.max_backlog) {
    const auto depth = audience.front()->mailbox.pending;
    if (sending.connection.wants_answers())
      send_new(sending.connection, MessageType::Busy, protocol::write_busy(kBusyRetryMs, depth));
    return refuse(sending, NackCode::Busy, format("{} messages wait for {} already; try again later", depth, to),
                  kBusyRetryMs);
  }
  const auto& envelope = sending.envelope;
  const protocol::DeliveryOptions wish = sending.meta.delivery.value_or(protocol::DeliveryOptions{});
  const protocol::Lane lane{wish.mode, wish.priority};
  if (const auto objection = check_streams(Topic{std::string{envelope.topic}}, sending.from, lane, audience))
    return refuse(sending, objection->refusal, objection->sentence, objection->retry_after_ms);
  auto message = std::make_shared<records::Message>(records::Message{
      .key = next_key(),
      .id = std::string{envelope.id},
      .ts = now_.wall,
      .from = sending.from,
      .to = std::string{to},
      .topic = Topic{std::string{envelope.topic}},
      .kind = sending.view.kind_name,
      .thread = sending.view.thread,
      .payload = std::string{envelope.payload},
      .payload_meta = std::string{envelope.payload_meta},
      .session = speaks_as_user(sending.connection, sending.from.value())
                     ? SessionId{std::string{records::kUserSession}}
                     : sending.connection.session,
  });
  mark_plain_answer(sending, *message);
  WallMs expires_at = now_.wall + std::min(sending.meta.ttl_ms.value_or(limits_.default_ttl_ms), protocol::kMaxTtlMs);
  if (wish.deadline != 0) expires_at = std::min(expires_at, wish.deadline);
  PendingSend pending{
      .connection = sending.connection.id,
      .id = message->id,
      .from = sending.from,
      .epoch = {},
      .number = 0,
      .bytes = sending.bytes,
      .answer = sending.connection.wants_answers(),
      .receipts = sending.connection.capabilities.receipts || sending.connection.capabilities.receipt_steps ||
                  sending.meta.requires_ack || sending.meta.receipt_steps,
      .steps = sending.connection.capabilities.receipt_steps || sending.meta.receipt_steps,
      .message = message,
      .deliveries = {},
  };
  changes_.emplace_back(std::in_place_type<records::AddMessage>, *message);
  pending.deliveries.reserve(audience.size());
  for (AgentState* agent : audience)
    add_delivery(pending, *agent, {.frame_kind = frame_kind, .lane = lane, .expires_at = expires_at});
  if (frame_kind == FrameKind::Deliver) add_shadow_copies(pending, audience, expires_at);
  remember(sending, pending);
  if (sending.sender != nullptr && !wish.idempotency_key.empty()) sending.sender->recent_keys.add(wish.idempotency_key);
  if (sending.meta.sync) {
    if (const auto sync = syncs_.find(sending.meta.sync->correlation_id); sync != syncs_.end())
      sync->second.key = message->key;
  }
  if (limits_.break_loops) loops_.taken(loop_view(sending, audience), records::short_id(message->key), now_);

  charge_message(sending.connection, pending.bytes);
  pending_.emplace_back(next_ticket_, std::move(pending));
}

std::string Core::held_by_policy(const AgentName& name) { return format("the policy of {} holds it", name.value()); }

void Core::add_delivery(PendingSend& pending, AgentState& to, const CopyOptions& travel) {
  const Key key = next_key();
  records::Delivery delivery{
      .key = key,
      .message = pending.message->key,
      .from = pending.message->from,
      .to = to.name(),
      .lane = travel.lane,
      .rank = key,
      .seq = streams_.next(pending.message->topic, pending.message->from, to.name(), travel.lane),
      .frame_kind = travel.frame_kind,
      .shadow_of = travel.shadow_of,
      .state = records::DeliveryState::Queued,
      .proof = records::Proof::Stored,
      .expires_at = travel.expires_at,
      .queued_offline = !to.connected(),
  };
  const auto policy = decide(to.record.policy, pending.message->from.value());
  const bool full = to.mailbox.pending >= limits_.max_backlog;
  if (policy == protocol::DeliveryPolicyAction::Refuse || full) {
    // One of many who cannot take it: the others still hear it, and the ledger says who did not.
    delivery.state = records::DeliveryState::Failed;
    std::string why = full ? "too many messages wait for it already" : "its policy refuses them";
    change(records::AddDelivery{delivery, why});
    pending.refused.push_back({std::move(delivery), std::move(why), full ? NackCode::Busy : NackCode::Refused});
    return;
  }
  ++to.mailbox.pending;
  arm_expiry(travel.expires_at);
  std::string reason;
  if (policy == protocol::DeliveryPolicyAction::Hold) {
    ++to.mailbox.held;
    delivery.hold = records::Hold::Policy;
    delivery.state = records::DeliveryState::Deferred;
    reason = held_by_policy(to.name());
  }
  change(records::AddDelivery{delivery, std::move(reason)});
  pending.deliveries.push_back(std::move(delivery));
}

void Core::add_shadow_copies(PendingSend& pending, const std::vector<AgentState*>& audience, WallMs expires_at) {
  if (shadows_.empty()) return;
  const auto copy_for = [&](const AgentName& primary, bool incoming) {
    const auto shadows = shadows_.find(primary);
    if (shadows == shadows_.end()) return;
    for (const AgentName& name : shadows->second) {
      AgentState* shadow = find_agent(name.value());
      if (shadow == nullptr || shadow->removing || name == pending.from ||
          std::ranges::find(audience, shadow) != audience.end())
        continue;
      for (const auto& binding : shadow->session->shadows) {
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

void Core::post(std::string_view from, const std::vector<AgentState*>& audience, std::string_view kind,
                std::string_view body, std::string_view data, std::string_view thread) {
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

Key Core::post(records::Message said, const std::vector<AgentState*>& audience, Copies copies) {
  said.key = next_key();
  said.id = fresh_id();
  said.ts = now_.wall;
  const auto message = std::make_shared<const records::Message>(std::move(said));
  PendingSend pending{.connection = {},
                      .id = message->id,
                      .from = message->from,
                      .epoch = {},
                      .own = true,
                      .message = message,
                      .deliveries = {}};
  saved_bytes_ += 2 * message->payload.size() + audience.size() * 2 * sizeof(records::Delivery);
  change(records::AddMessage{*message});
  const WallMs expires_at = now_.wall + limits_.default_ttl_ms;
  for (AgentState* to : audience) add_delivery(pending, *to, {.expires_at = expires_at});
  if (copies == Copies::ForShadows) add_shadow_copies(pending, audience, expires_at);
  pending_.emplace_back(next_ticket_, std::move(pending));
  return message->key;
}

}  // namespace relay::broker
