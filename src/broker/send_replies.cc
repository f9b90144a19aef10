// What a SEND is told: ACK once it is stored, NACK with the reason, the same again when it comes again.
#include "base/format.h"
#include "broker/core.h"
#include "records/short_id.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;
using protocol::NackCode;

namespace {

constexpr std::size_t kMaxWatchedMessages = 4'096;

ErrorCode error_code_of(NackCode refusal) {
  switch (refusal) {
    case NackCode::UnknownRecipient:
    case NackCode::NotFound: return ErrorCode::NotFound;
    case NackCode::Busy: return ErrorCode::Busy;
    case NackCode::RateLimited: return ErrorCode::RateLimited;
    case NackCode::NotOwner:
    case NackCode::Refused: return ErrorCode::Unauthorized;
    case NackCode::Storage: return ErrorCode::Internal;
    case NackCode::Expired: return ErrorCode::Timeout;
    case NackCode::Loop:
    case NackCode::TooLarge:
    case NackCode::BadRequest:
    case NackCode::Stale:
    case NackCode::Unsupported: return ErrorCode::BadRequest;
  }
  std::unreachable();
}

}  // namespace

bool Core::already_answered(SendContext& sending) {
  const std::string& epoch = sending.connection.capabilities.outbox;
  const auto& id = sending.envelope.id;
  bool seen = false;
  Key first;
  if (!epoch.empty() && sending.sender != nullptr) {
    sending.number = outbox_number(id, epoch);
    if (!sending.number) {
      refuse(sending, NackCode::BadRequest,
             format("HELLO named the outbox '{}', so ids read '{}-1', '{}-2', …", epoch, epoch, epoch));
      return true;
    }
    // A mark may have been forgotten (an old epoch, a removed agent, a store begun anew). A connection begins with the
    // lowest number still unanswered, so everything before its first one was answered once.
    if (!sending.connection.first_number) sending.connection.first_number = *sending.number;
    switch (sending.sender->outboxes.look_up(epoch, *sending.number, *sending.connection.first_number - 1)) {
      case SequenceCheck::Next: break;
      case SequenceCheck::Duplicate: seen = true; break;
      case SequenceCheck::Refused:
        // As with an ACK: the refusal counts once it is stored; until then it may still be rolled back.
        when_committed([this, connection = sending.connection.id, id = std::string{id}](CommitResult saving) {
          ConnectionState* asker = find(connection);
          if (asker == nullptr || !asker->speaks()) return;
          if (saving == CommitResult::Done)
            refuse(*asker, id, NackCode::BadRequest, "this message was refused before");
          else
            refuse(*asker, id, NackCode::Storage, "the answer could not be stored; try again", kStorageRetryMs);
        });
        return true;
      case SequenceCheck::Gap:
        refuse(sending.connection, id, NackCode::Busy,
               "an earlier message of this outbox is still missing; send that one again first", kBusyRetryMs);
        return true;
    }
  } else if (sending.sender != nullptr) {
    const auto found = sending.sender->recent.find(id);
    seen = found.has_value();
    first = found.value_or(Key{});
  }
  if (!seen) return false;
  // The same answer again: durable, once whatever is being committed now has been.
  when_committed([this, connection = sending.connection.id, id = std::string{id}, first](CommitResult saving) {
    ConnectionState* asker = find(connection);
    if (asker == nullptr || !asker->wants_answers()) return;
    if (saving == CommitResult::Failed)
      return refuse(*asker, id, NackCode::Storage, "the message could not be stored; try again", kStorageRetryMs);
    protocol::Ack ack;
    ack.ack_id = id;
    ack.duplicate = true;
    if (first != Key{}) ack.short_id = records::short_id(first);
    send_new(*asker, MessageType::Ack, protocol::write_ack(ack));
  });
  return true;
}

void Core::refuse(SendContext& sending, NackCode refusal, std::string_view message, std::int64_t retry_after_ms) {
  if (sending.number && !is_retryable(refusal)) {
    // The outbox drops it and goes on, so its number counts as answered, and is remembered as refused.
    change(records::SetOutboxMark{sending.sender->outboxes.advance(sending.from, sending.connection.capabilities.outbox,
                                                                   *sending.number, true, now_.wall)});
    when_committed([this, connection = sending.connection.id, id = std::string{sending.envelope.id},
                    from = sending.from, epoch = sending.connection.capabilities.outbox, number = *sending.number,
                    refusal, message = std::string{message}](CommitResult saving) {
      if (AgentState* sender = find_agent(from.value()); sender != nullptr && saving == CommitResult::Failed) {
        sender->outboxes.roll_back(epoch, number);
      }
      ConnectionState* asker = find(connection);
      if (asker == nullptr || !asker->speaks()) return;
      if (saving == CommitResult::Done)
        refuse(*asker, id, refusal, message);
      else
        refuse(*asker, id, NackCode::Storage, "the answer could not be stored; try again", kStorageRetryMs);
    });
    return;
  }
  refuse(sending.connection, sending.envelope.id, refusal, message, retry_after_ms);
}

void Core::refuse(ConnectionState& connection, std::string_view id, NackCode refusal, std::string_view message,
                  std::int64_t retry_after_ms) {
  if (!connection.wants_answers()) {
    error(connection, error_code_of(refusal), message);
    return;
  }
  send_new(connection, MessageType::Nack, protocol::write_nack(id, refusal, message, retry_after_ms));
}

void Core::remember(SendContext& sending, PendingSend& pending) {
  if (sending.sender == nullptr) return;
  if (sending.number) {
    pending.epoch = sending.connection.capabilities.outbox;
    pending.number = *sending.number;
    change(records::SetOutboxMark{
        sending.sender->outboxes.advance(sending.from, pending.epoch, pending.number, false, now_.wall)});
  } else {
    sending.sender->recent.add(pending.id, pending.message ? pending.message->key : Key{});
  }
}

bool Core::carried_out_before(const SendContext& sending) const {
  return sending.sender != nullptr && sending.sender->executed.contains(sending.envelope.id);
}

void Core::acknowledge_when_saved(SendContext& sending) {
  PendingSend pending{.connection = {},
                      .id = std::string{sending.envelope.id},
                      .from = sending.from,
                      .epoch = {},
                      .message = nullptr,
                      .deliveries = {}};
  remember(sending, pending);
  when_committed([this, connection = sending.connection.id, id = pending.id, from = sending.from, epoch = pending.epoch,
                  number = pending.number](CommitResult saving) {
    if (saving == CommitResult::Failed) {
      // It is done, and will be saved by a later commit: when it comes again, only the answer is missing.
      if (AgentState* sender = find_agent(from.value())) sender->executed.add(id);
      forget_send(from, id, epoch, number);
    }
    ConnectionState* asker = find(connection);
    if (asker == nullptr || !asker->wants_answers()) return;
    if (saving == CommitResult::Done)
      send_new(*asker, MessageType::Ack, protocol::write_ack(id));
    else
      refuse(*asker, id, NackCode::Storage, "it could not be stored; try again", kStorageRetryMs);
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

void Core::forget_wish(const PendingSend& sent) {
  AgentState* sender = find_agent(sent.from.value());
  const auto meta = protocol::parse_send_meta(sent.message->payload_meta);
  if (sender != nullptr && meta && meta->delivery) sender->recent_keys.remove(meta->delivery->idempotency_key);
}

void Core::finish(PendingSend& sent, CommitResult saving, std::string_view why) {
  ConnectionState* connection = find(sent.connection);
  if (sent.bytes > 0) release_uncommitted(connection, sent.bytes);
  if (saving == CommitResult::Failed && sent.own) {
    unsaved_.emplace_back(std::move(sent));
    return;
  }
  if (saving == CommitResult::Failed) {
    forget_send(sent.from, sent.id, sent.epoch, sent.number);
    forget_wish(sent);
    forget_request(*sent.message);
    for (const auto& delivery : sent.deliveries) {
      AgentState* to = find_agent(delivery.to.value());
      if (to == nullptr) continue;
      to->mailbox.settled_one();
      if (delivery.hold != records::Hold::None) to->mailbox.release_one();
    }
    if (connection != nullptr && connection->speaks()) {
      refuse(*connection, sent.id, NackCode::Storage, format("the message could not be stored: {}; try again", why),
             kStorageRetryMs);
    }
    return;
  }
  count_sent(sent.message->from);
  const std::string answer = sent.answer && connection != nullptr && connection->speaks() ? answer_to(sent) : "";
  if (!answer.empty() && sent.receipts) await_receipts(*connection, sent);
  const auto answered = answer_syncs(*sent.message);
  // First those it is for, who would only wait; then its sender, who has it from us in any case.
  for (auto& delivery : sent.deliveries) {
    AgentState* to = find_agent(delivery.to.value());
    if (to == nullptr || delivery.hold != records::Hold::None) continue;
    // Whoever asked from a command line has no session, and has just been given it.
    if (answered == delivery.to && !to->connected())
      complete(*to, InFlight{.parcel = {delivery, sent.message}},
               {.key = delivery.key, .proof = records::Proof::Accepted, .via = "answer"});
    else
      deliver_committed(*to, {std::move(delivery), sent.message});
  }
  if (!answer.empty()) send_new(*connection, MessageType::Ack, answer);
  for (const auto& refused : sent.refused)
    tell({.key = refused.delivery.key, .state = refused.delivery.state, .at = now_.wall, .reason = refused.reason},
         {sent.message, refused.delivery.to, refused.code});
  for (const auto& delivery : sent.deliveries) {
    if (delivery.hold != records::Hold::Policy) continue;
    tell({.key = delivery.key,
          .state = delivery.state,
          .proof = delivery.proof,
          .at = now_.wall,
          .reason = held_by_policy(delivery.to),
          .hold = delivery.hold},
         {sent.message, delivery.to});
  }
}

/// The payload of the ACK. Where a message for one stands is told as it is before that one has it.
std::string Core::answer_to(const PendingSend& sent) {
  protocol::Ack ack;
  ack.ack_id = sent.id;
  ack.short_id = records::short_id(sent.message->key);
  ack.recipients = sent.deliveries.size();
  if (sent.deliveries.size() == 1) {
    const auto& only = sent.deliveries.front();
    ack.seq = only.seq.value();
    ack.delivery_id = records::delivery_id(only.key);
    const AgentState* to = find_agent(only.to.value());
    const bool is_direct = sent.message->to == only.to.value();  // not by a channel, a topic or a broadcast
    if (to != nullptr && !to->connected()) {
      if (is_direct)
        ack.offline_since = to->offline_since();
      else
        ack.pending_reason = format("its only recipient, {}, is offline", only.to.value());
    }
    if (to != nullptr && to->connected()) {
      ack.pending_reason = only.hold == records::Hold::Policy
                               ? held_by_policy(only.to)
                               : block_reason(*to, only.lane, lane_state(*to, only.lane).closed);
      if (ack.pending_reason.empty() && only.lane.mode == protocol::DeliveryMode::Manual)
        ack.pending_reason = held_as_manual(only.to);
      if (ack.pending_reason.empty() && to->activity.state == "blocked")
        ack.pending_reason =
            format("{} asks its user something; {}", only.to.value(),
                   to->observed() ? "answer it at its own terminal" : "see agent-relay permissions and questions");
    }
    if (const auto best = to != nullptr && sent.steps ? best_proof(*to) : std::nullopt) ack.proves = name_of(*best);
  }
  return protocol::write_ack(ack);
}

void Core::await_receipts(ConnectionState& sender, const PendingSend& sent) {
  if (sender.watched_messages >= kMaxWatchedMessages) return;
  auto& awaited = receipts_[sent.message->key];
  awaited = {.connection = sender.id, .id = sent.id, .open = {}, .steps = sent.steps};
  ++sender.watched_messages;
  for (const auto& delivery : sent.deliveries) awaited.open.emplace(delivery.key, delivery.to);
  for (const auto& refused : sent.refused) awaited.open.emplace(refused.delivery.key, refused.delivery.to);
  if (awaited.open.empty()) end_receipts(receipts_.find(sent.message->key));
}

/// Into its mailbox, with a line in the ledger when it cannot go right now though its recipient is here.
void Core::deliver_committed(AgentState& to, OutboundDelivery parcel) {
  if (parcel.delivery.hold != records::Hold::None) return;
  const auto lane = parcel.delivery.lane;
  if (to.mailbox.connected()) {
    if (const auto closed = lane_state(to, lane).closed; closed != LaneBlock::No)
      record_history(to, parcel.message,
                     {.key = parcel.delivery.key,
                      .state = records::DeliveryState::Deferred,
                      .reason = block_reason(to, lane, closed)},
                     closed == LaneBlock::Unsupported ? std::optional{NackCode::Unsupported} : std::nullopt);
  }
  to.mailbox.committed(std::move(parcel), limits_.max_page_rows);
  deliver_pending(to);
}

}  // namespace relay::broker
