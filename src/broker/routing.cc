// SEND: is it new, is it allowed, who hears it; stored first, answered after.
#include <algorithm>

#include "base/format.h"
#include "base/nearest.h"
#include "broker/core.h"
#include "protocol/json_writer.h"
#include "records/short_id.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;
using protocol::Refusal;
using records::Carriage;

namespace {

constexpr std::int64_t kBusyRetryMs = 250;
constexpr std::int64_t kStorageRetryMs = 1'000;
constexpr std::size_t kMaxWatchedMessages = 4'096;
constexpr std::size_t kMaxOpenSyncs = 10'000;

ErrorCode error_code_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::UnknownRecipient: return ErrorCode::NotFound;
    case Refusal::Busy: return ErrorCode::Busy;
    case Refusal::RateLimited: return ErrorCode::RateLimited;
    case Refusal::NotOwner: return ErrorCode::Unauthorized;
    case Refusal::Storage: return ErrorCode::Internal;
    case Refusal::Expired: return ErrorCode::Timeout;
    case Refusal::Loop:
    case Refusal::TooLarge:
    case Refusal::BadRequest:
    case Refusal::Stale:
    case Refusal::Unsupported: return ErrorCode::BadRequest;
  }
  std::unreachable();
}

}  // namespace

bool Core::admit_one_shot(Connection& connection, const protocol::Envelope& envelope) {
  if (envelope.from.empty() || envelope.to.empty()) {
    error(connection, ErrorCode::BadRequest, "SEND before HELLO: say HELLO first, or give both 'from' and 'to'");
    return false;
  }
  connection.phase = Phase::OneShot;
  if (const auto fine = protocol::check_agent_name(envelope.from); !fine) {
    refuse(connection, envelope.id, Refusal::BadRequest, fine.error().message());
    return false;
  }
  AgentState* known = find_agent(envelope.from);
  if (known != nullptr && known->removing) {
    refuse(connection, envelope.id, Refusal::Busy, format("'{}' is being removed; try again", envelope.from),
           kBusyRetryMs);
    return false;
  }
  if (known != nullptr && (known->connected() || is_claimed(*known))) {
    refuse(connection, envelope.id, Refusal::NotOwner,
           format("'{}' is somebody who is here; send under another name", envelope.from));
    return false;
  }
  if (known == nullptr) {
    if (agents_.size() >= limits_.max_known_agents) {
      refuse(connection, envelope.id, Refusal::Busy,
             format("{} agents are known already; remove one first", agents_.size()));
      return false;
    }
    known = &add_agent(std::string{envelope.from});
  }
  if (!known->saved) {
    known->saved = true;
    known->record.last_seen = now_.wall;
    save_eventually(records::PutAgent{known->record});  // so that answers find their way back
    emit(RosterChanged{});
  }
  return true;
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

bool Core::already_answered(Sending& sending) {
  const std::string& epoch = sending.connection.capabilities.outbox;
  const auto& id = sending.envelope.id;
  bool seen = false;
  if (!epoch.empty() && sending.sender != nullptr) {
    sending.number = outbox_number(id, epoch);
    if (!sending.number) {
      refuse(sending, Refusal::BadRequest,
             format("HELLO named the outbox '{}', so ids read '{}-1', '{}-2', …", epoch, epoch, epoch));
      return true;
    }
    // A mark may have been forgotten (an old epoch, a removed agent, a store begun anew). A connection begins with the
    // lowest number still unanswered, so everything before its first one was answered once.
    if (!sending.connection.first_number) sending.connection.first_number = *sending.number;
    switch (sending.sender->outboxes.look_up(epoch, *sending.number, *sending.connection.first_number - 1)) {
      case Numbered::Next: break;
      case Numbered::Seen: seen = true; break;
      case Numbered::Refused:
        // As with an ACK: the refusal counts once it is stored; until then it may still be rolled back.
        when_committed([this, connection = sending.connection.id, id = std::string{id}](Saving saving) {
          Connection* asker = find(connection);
          if (asker == nullptr || !asker->speaks()) return;
          if (saving == Saving::Done)
            refuse(*asker, id, Refusal::BadRequest, "this message was refused before");
          else
            refuse(*asker, id, Refusal::Storage, "the answer could not be stored; try again", kStorageRetryMs);
        });
        return true;
      case Numbered::TooEarly:
        refuse(sending.connection, id, Refusal::Busy,
               "an earlier message of this outbox is still missing; send that one again first", kBusyRetryMs);
        return true;
    }
  } else if (sending.sender != nullptr) {
    seen = sending.sender->recent.contains(id);
  }
  if (!seen) return false;
  // The same answer again: durable, once whatever is being committed now has been.
  when_committed([this, connection = sending.connection.id, id = std::string{id}](Saving saving) {
    Connection* asker = find(connection);
    if (asker == nullptr || !asker->wants_answers()) return;
    if (saving == Saving::Done)
      say(*asker, MessageType::Ack, protocol::write_ack(id));
    else
      refuse(*asker, id, Refusal::Storage, "the message could not be stored; try again", kStorageRetryMs);
  });
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

void Core::refuse(Sending& sending, Refusal refusal, std::string_view message, std::int64_t retry_after_ms) {
  if (sending.number && !is_retryable(refusal)) {
    // The outbox drops it and goes on, so its number counts as answered, and is remembered as refused.
    change(records::SetOutboxMark{sending.sender->outboxes.advance(sending.from, sending.connection.capabilities.outbox,
                                                                   *sending.number, true, now_.wall)});
    when_committed([this, connection = sending.connection.id, id = std::string{sending.envelope.id},
                    from = sending.from, epoch = sending.connection.capabilities.outbox, number = *sending.number,
                    refusal, message = std::string{message}](Saving saving) {
      if (AgentState* sender = find_agent(from.value()); sender != nullptr && saving == Saving::Failed) {
        sender->outboxes.roll_back(epoch, number);
      }
      Connection* asker = find(connection);
      if (asker == nullptr || !asker->speaks()) return;
      if (saving == Saving::Done)
        refuse(*asker, id, refusal, message);
      else
        refuse(*asker, id, Refusal::Storage, "the answer could not be stored; try again", kStorageRetryMs);
    });
    return;
  }
  refuse(sending.connection, sending.envelope.id, refusal, message, retry_after_ms);
}

void Core::refuse(Connection& connection, std::string_view id, Refusal refusal, std::string_view message,
                  std::int64_t retry_after_ms) {
  if (!connection.wants_answers()) {
    error(connection, error_code_of(refusal), message);
    return;
  }
  say(connection, MessageType::Nack, protocol::write_nack(id, refusal, message, retry_after_ms));
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

void Core::remember(Sending& sending, PendingSend& pending) {
  if (sending.sender == nullptr) return;
  if (sending.number) {
    pending.epoch = sending.connection.capabilities.outbox;
    pending.number = *sending.number;
    change(records::SetOutboxMark{
        sending.sender->outboxes.advance(sending.from, pending.epoch, pending.number, false, now_.wall)});
  } else {
    sending.sender->recent.add(pending.id);
  }
}

bool Core::carried_out_before(const Sending& sending) const {
  return sending.sender != nullptr && sending.sender->carried_out.contains(sending.envelope.id);
}

void Core::acknowledge_when_saved(Sending& sending) {
  PendingSend pending{.connection = {},
                      .id = std::string{sending.envelope.id},
                      .from = sending.from,
                      .epoch = {},
                      .message = nullptr,
                      .deliveries = {}};
  remember(sending, pending);
  when_committed([this, connection = sending.connection.id, id = pending.id, from = sending.from, epoch = pending.epoch,
                  number = pending.number](Saving saving) {
    if (saving == Saving::Failed) {
      // It is done, and will be saved by a later commit: when it comes again, only the answer is missing.
      if (AgentState* sender = find_agent(from.value())) sender->carried_out.add(id);
      forget_send(from, id, epoch, number);
    }
    Connection* asker = find(connection);
    if (asker == nullptr || !asker->wants_answers()) return;
    if (saving == Saving::Done)
      say(*asker, MessageType::Ack, protocol::write_ack(id));
    else
      refuse(*asker, id, Refusal::Storage, "it could not be stored; try again", kStorageRetryMs);
  });
}

void Core::forget_send(const AgentName& from, const std::string& id, const std::string& epoch, std::uint64_t number) {
  AgentState* sender = find_agent(from.value());
  if (sender == nullptr) return;
  if (number != 0)
    sender->outboxes.roll_back(epoch, number);
  else
    sender->recent.remove(id);
}

void Core::finish(PendingSend& sent, Saving saving, std::string_view why) {
  Connection* connection = find(sent.connection);
  if (sent.bytes > 0) release_uncommitted(connection, sent.bytes);
  if (saving == Saving::Failed && sent.own) {
    unsent_.push_back(std::move(sent));
    return;
  }
  if (saving == Saving::Failed) {
    forget_send(sent.from, sent.id, sent.epoch, sent.number);
    for (const auto& delivery : sent.deliveries) {
      if (AgentState* to = find_agent(delivery.to.value())) to->mailbox.settled_one();
    }
    if (connection != nullptr && connection->speaks()) {
      refuse(*connection, sent.id, Refusal::Storage, format("the message could not be stored: {}; try again", why),
             kStorageRetryMs);
    }
    return;
  }
  if (connection != nullptr && connection->speaks()) {
    if (sent.answer) {
      const auto seq = sent.deliveries.size() == 1 ? std::optional{sent.deliveries.front().seq.value()} : std::nullopt;
      say(*connection, MessageType::Ack,
          protocol::write_ack(sent.id, seq, records::short_id(sent.message->key), sent.deliveries.size()));
    }
    if (sent.receipts && sent.answer && connection->watched_messages < kMaxWatchedMessages) {
      auto& awaited = receipts_[sent.message->key];
      awaited = {connection->id, sent.id, {}};
      ++connection->watched_messages;
      for (const auto& delivery : sent.deliveries) awaited.open.emplace(delivery.key, delivery.to);
      for (const auto& delivery : sent.refused) awaited.open.emplace(delivery.key, delivery.to);
      if (awaited.open.empty()) end_receipts(receipts_.find(sent.message->key));
      for (const auto& delivery : sent.refused)
        tell_sender(sent.message->key, delivery.key, protocol::ReceiptStatus::Failed, records::Proof::Stored,
                    "too many messages wait for it already");
    }
  }
  newest_shown_ = sent.message->key;
  show_watchers(*sent.message);
  for (auto& delivery : sent.deliveries) {
    AgentState* to = find_agent(delivery.to.value());
    if (to == nullptr || !to->mailbox.connected()) continue;
    to->mailbox.committed({std::move(delivery), sent.message}, limits_.max_page_rows);
    pump(*to);
  }
}

void Core::post(std::string_view from, const std::vector<AgentState*>& audience, std::string_view kind,
                std::string_view body, std::string_view data, std::string_view thread) {
  if (audience.empty()) return;
  protocol::JsonWriter payload;
  payload.field("kind", kind).field("body", body).raw("data", data).optional("thread", thread);
  auto message = std::make_shared<records::Message>(records::Message{
      .key = next_key(),
      .id = fresh_id(),
      .ts = now_.wall,
      .from = AgentName{std::string{from}},
      .to = audience.size() == 1 ? audience.front()->name().value() : std::string{protocol::kConsensus},
      .topic = {},
      .kind = std::string{kind},
      .thread = std::string{thread},
      .payload = payload.take(),
      .payload_meta = {},
      .session = {},
  });
  PendingSend pending{.connection = {},
                      .id = message->id,
                      .from = message->from,
                      .epoch = {},
                      .own = true,
                      .message = message,
                      .deliveries = {}};
  saved_bytes_ += 2 * message->payload.size() + audience.size() * 2 * sizeof(records::Delivery);
  change(records::AddMessage{*message});
  for (AgentState* to : audience) add_delivery(pending, *to, Carriage::Deliver, {}, now_.wall + limits_.default_ttl_ms);
  pending_.push_back({next_ticket_, std::move(pending)});
}

}  // namespace relay::broker
