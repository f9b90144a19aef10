// SEND: is it allowed, who hears it; stored first, answered after (answering.cc).
#include <algorithm>

#include "base/format.h"
#include "base/hash.h"
#include "base/nearest.h"
#include "broker/core.h"
#include "protocol/json_writer.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;
using protocol::Refusal;
using records::Carriage;

namespace {

constexpr std::size_t kMaxOpenSyncs = 10'000;

}  // namespace

bool Core::admit_one_shot(Connection& connection, const protocol::Envelope& envelope) {
  if (envelope.from.empty() || envelope.to.empty()) {
    error(connection, ErrorCode::BadRequest, "SEND before HELLO: say HELLO first, or give both 'from' and 'to'");
    return false;
  }
  connection.phase = Phase::OneShot;
  if (const auto objection = objection_to_guest(envelope.from, envelope.claim_token)) {
    refuse(connection, envelope.id, objection->refusal, objection->sentence, objection->retry_after_ms);
    return false;
  }
  admit_guest(envelope.from);
  return true;
}

std::optional<Core::Objection> Core::objection_to_guest(std::string_view name, std::string_view claim_token) {
  if (const auto fine = protocol::check_agent_name(name); !fine)
    return Objection{Refusal::BadRequest, fine.error().message()};
  const AgentState* known = find_agent(name);
  if (known == nullptr) {
    if (agents_.size() < limits_.max_known_agents) return std::nullopt;
    return Objection{Refusal::Busy, format("{} agents are known already; remove one first", agents_.size())};
  }
  if (known->removing) return Objection{Refusal::Busy, format("'{}' is being removed; try again", name), kBusyRetryMs};
  const bool speaks_for_it =
      !claim_token.empty() && equal_in_constant_time(sha256_hex(claim_token), known->record.claim_hash);
  if ((known->connected() || is_claimed(*known)) && !speaks_for_it)
    return Objection{Refusal::NotOwner, format("'{}' is somebody who is here; send under another name", name)};
  return std::nullopt;
}

AgentState& Core::admit_guest(std::string_view name) {
  AgentState& guest = add_agent(std::string{name});
  if (!guest.saved) {
    guest.saved = true;
    guest.record.last_seen = now_.wall;
    save_eventually(records::PutAgent{guest.record});
    emit(RosterChanged{});
  }
  return guest;
}

void Core::on_send(Connection& connection, const protocol::Envelope& envelope, std::size_t frame_bytes) {
  const bool one_shot = connection.phase == Phase::OneShot;
  const AgentName from = one_shot ? AgentName{std::string{envelope.from}} : connection.agent;
  Sending sending{
      connection, envelope, connection.query_only ? nullptr : find_agent(from.value()), from, frame_bytes, {}, {}, {}};
  if (already_answered(sending)) return;  // first of all: a refusal must count its outbox number
  auto view = protocol::parse_send(envelope.payload);
  if (!view) return refuse(sending, Refusal::BadRequest, view.error().message());
  auto meta = protocol::parse_send_meta(envelope.payload_meta);
  if (!meta) return refuse(sending, Refusal::BadRequest, meta.error().message());
  sending.view = std::move(*view);
  sending.meta = std::move(*meta);

  if (!within_rate(sending) || !fits_a_frame(sending)) return;
  if (envelope.to == protocol::kConsensus) return on_consensus(sending);
  if (envelope.to == protocol::kRouter) return on_membership_update(sending);
  if (sending.meta.ttl_ms && *sending.meta.ttl_ms <= 0) {
    return refuse(sending, Refusal::Expired, "ttl_ms is used up already; give a positive number of milliseconds");
  }
  if (envelope.to.empty()) return refuse(sending, Refusal::BadRequest, "SEND needs 'to': a name, or '*' for everyone");
  const auto audience = audience_of(sending);
  if (!audience) return refuse(sending, Refusal::UnknownRecipient, audience.error().message());

  if (sending.meta.sync && sending.meta.sync->blocking && !await_answer(sending)) return;
  accept(sending, envelope.to, *audience, Carriage::Deliver);
}

bool Core::await_answer(Sending& sending) {
  const auto& sync = *sending.meta.sync;
  const auto refuse_sync = [&](Refusal refusal, const std::string& reason) {
    if (sending.connection.wants_answers())
      refuse(sending, refusal, reason, kBusyRetryMs);
    else
      error(sending.connection, ErrorCode::Internal, reason);
    return false;
  };
  const auto timeout =
      sync.timeout_ms > 0 ? std::min(sync.timeout_ms, protocol::kMaxSyncTimeoutMs) : protocol::kDefaultSyncTimeoutMs;
  if (const auto open = syncs_.find(sync.correlation_id); open != syncs_.end()) {
    const bool same = open->second.asker == sending.connection.id && open->second.message == sending.envelope.id;
    return same ||
           refuse_sync(Refusal::BadRequest, format("the correlation id {} is in use already", sync.correlation_id));
  }
  if (syncs_.size() >= kMaxOpenSyncs)
    return refuse_sync(Refusal::Busy, "too many blocking messages are open; try again later");
  const std::string_view to = sending.envelope.to;
  const bool direct = find_agent(to) != nullptr;
  const SteadyTime due = now_.steady + Millis{timeout};
  syncs_.emplace(sync.correlation_id, WaitingSync{sending.connection.id, std::string{sending.envelope.id},
                                                  direct ? std::string{to} : std::string{}, due});
  timers_.arm(due, {.kind = TimerKind::SyncTimeout, .name = sync.correlation_id});
  return true;
}

bool Core::within_rate(Sending& sending) {
  if (sending.sender == nullptr || sending.sender->bucket.take(now_.steady)) return true;
  const Millis wait = sending.sender->bucket.wait(now_.steady);
  if (sending.connection.wants_answers()) {
    refuse(sending, Refusal::RateLimited,
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

bool Core::fits_a_frame(Sending& sending) {
  const std::size_t bytes = sending.envelope.payload.size() + sending.envelope.payload_meta.size();
  constexpr std::size_t kMost = protocol::kMaxFrameBytes - protocol::kEnvelopeRoomBytes;
  if (bytes <= kMost) return true;
  refuse(sending, Refusal::TooLarge,
         format("a message may have {} bytes, this one has {}; send it as a file", kMost, bytes));
  return false;
}

Result<std::vector<AgentState*>> Core::audience_of(Sending& sending) {
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
    const auto members = channel_members(std::string{to});
    everyone_who([&](const AgentState& agent) { return std::ranges::binary_search(members, agent.name()); });
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

bool Core::streams_fit(const Topic& topic, const AgentName& from, const std::vector<AgentState*>& audience) const {
  if (streams_.size() + audience.size() <= limits_.max_streams) return true;
  return std::ranges::all_of(audience,
                             [&](const AgentState* to) { return streams_.contains(topic, from, to->name()); });
}

void Core::accept(Sending& sending, std::string_view to, const std::vector<AgentState*>& audience, Carriage carriage) {
  const bool direct = audience.size() == 1 && audience.front()->name().value() == to;
  if (direct && audience.front()->mailbox.pending >= limits_.max_backlog) {
    const auto depth = audience.front()->mailbox.pending;
    if (sending.connection.wants_answers())
      say(sending.connection, MessageType::Busy, protocol::write_busy(kBusyRetryMs, depth));
    return refuse(sending, Refusal::Busy, format("{} messages wait for {} already; try again later", depth, to),
                  kBusyRetryMs);
  }
  const auto& envelope = sending.envelope;
  if (!streams_fit(Topic{std::string{envelope.topic}}, sending.from, audience)) {
    return refuse(sending, Refusal::BadRequest,
                  format("{} pairs of agents and topics have numbers already; use fewer topics", streams_.size()));
  }
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
      .session = sending.connection.session,
  });
  const auto ttl = std::min(sending.meta.ttl_ms.value_or(limits_.default_ttl_ms), protocol::kMaxTtlMs);
  PendingSend pending{
      .connection = sending.connection.id,
      .id = message->id,
      .from = sending.from,
      .epoch = {},
      .number = 0,
      .bytes = sending.bytes,
      .answer = sending.connection.wants_answers(),
      .receipts = sending.connection.capabilities.receipts || sending.meta.requires_ack,
      .message = message,
      .deliveries = {},
  };
  change(records::AddMessage{*message});
  for (AgentState* agent : audience) add_delivery(pending, *agent, carriage, {}, now_.wall + ttl);
  if (carriage == Carriage::Deliver) add_shadow_copies(pending, audience, now_.wall + ttl);
  remember(sending, pending);
  if (sending.sender != nullptr) ++sending.sender->sent;

  charge(sending.connection, pending.bytes);
  pending_.push_back({next_ticket_, std::move(pending)});
}

void Core::add_delivery(PendingSend& pending, AgentState& to, Carriage carriage, const std::string& shadow_of,
                        WallMs expires_at) {
  records::Delivery delivery{
      .key = next_key(),
      .message = pending.message->key,
      .to = to.name(),
      .seq = streams_.next(pending.message->topic, pending.message->from, to.name()),
      .carriage = carriage,
      .shadow_of = shadow_of,
      .state = records::DeliveryState::Queued,
      .proof = records::Proof::Stored,
      .expires_at = expires_at,
      .queued_offline = !to.connected(),
  };
  if (to.mailbox.pending >= limits_.max_backlog) {
    // One of many who cannot take more: the others still hear it, and the ledger says who did not.
    delivery.state = records::DeliveryState::Failed;
    change(records::AddDelivery{delivery});
    pending.refused.push_back(std::move(delivery));
    return;
  }
  ++to.mailbox.pending;
  arm_expiry(expires_at);
  change(records::AddDelivery{delivery});
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
        add_delivery(pending, *shadow, incoming ? Carriage::ShadowIncoming : Carriage::ShadowOutgoing, primary.value(),
                     expires_at);
      }
    }
  };
  copy_for(pending.from, false);
  for (const AgentState* agent : audience) copy_for(agent->name(), true);
}

void Core::post(std::string_view from, const std::vector<AgentState*>& audience, std::string_view kind,
                std::string_view body, std::string_view data, std::string_view thread) {
  if (audience.empty()) return;
  protocol::JsonWriter payload;
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
  for (AgentState* to : audience) add_delivery(pending, *to, Carriage::Deliver, {}, expires_at);
  if (copies == Copies::ForShadows) add_shadow_copies(pending, audience, expires_at);
  pending_.push_back({next_ticket_, std::move(pending)});
  return message->key;
}

}  // namespace relay::broker
