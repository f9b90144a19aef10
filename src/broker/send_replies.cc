#include "broker/send_replies.h"

#include <utility>

#include "base/format.h"
#include "records/short_id.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;
using protocol::NackCode;

namespace {

constexpr WallMs kIdRetentionMs = 2LL * 24 * 3600 * 1000;  // within this time a sender may repeat a message

ErrorCode error_code_of(NackCode code) {
  switch (code) {
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

bool SendReplies::answer_if_repeated(SendContext& sending) {
  const std::string& epoch = sending.connection.capabilities->outbox;
  const auto& id = sending.envelope.id;
  bool repeated = false;
  Key first;
  if (!epoch.empty() && sending.sender != nullptr) {
    sending.number = outbox_number(id, epoch);
    if (!sending.number) {
      refuse(sending, NackCode::BadRequest,
             format("HELLO named the outbox '{}', so ids are '{}-1', '{}-2', …", epoch, epoch, epoch));
      return true;
    }
    // A mark may be missing (an old epoch, a removed agent, a new store). A connection starts with the lowest
    // unanswered number, so every number before its first one was answered.
    auto& first_number = *sending.connection.first_number;
    if (!first_number) first_number = *sending.number;
    switch (sending.sender->outboxes.look_up(epoch, *sending.number, *first_number - 1)) {
      case SequenceCheck::Next: break;
      case SequenceCheck::Duplicate: repeated = true; break;
      case SequenceCheck::Refused:
        // Like an ACK, the refusal counts once it is stored; until then it may still be rolled back.
        commits_.when_committed([this, connection = sending.connection.id, id = std::string{id}](CommitResult result) {
          ConnectionState* client = connections_.find(connection);
          if (client == nullptr || !client->is_open()) return;
          if (result == CommitResult::Done)
            refuse(*client, id, NackCode::BadRequest, "this message was refused before");
          else
            refuse(*client, id, NackCode::Storage, "the answer could not be stored; try again", kStorageRetryMs);
        });
        return true;
      case SequenceCheck::Gap:
        refuse(sending.connection, id, NackCode::Busy,
               "an earlier message of this outbox is still missing; send that one again first", kBusyRetryMs);
        return true;
    }
  } else if (sending.sender != nullptr) {
    const auto found = sending.sender->sent_ids->recent.find(id);
    repeated = found.has_value();
    first = found.value_or(Key{});
  }
  if (!repeated) return false;
  // The same answer again, once the present commits are durable.
  commits_.when_committed([this, connection = sending.connection.id, id = std::string{id}, first](CommitResult result) {
    ConnectionState* client = connections_.find(connection);
    if (client == nullptr || !client->wants_answers()) return;
    if (result == CommitResult::Failed)
      return refuse(*client, id, NackCode::Storage, "the message could not be stored; try again", kStorageRetryMs);
    protocol::Ack ack;
    ack.ack_id = id;
    ack.duplicate = true;
    if (first != Key{}) ack.short_id = records::short_id(first);
    connections_.send_new(*client, MessageType::Ack, protocol::write_ack(ack));
  });
  return true;
}

bool SendReplies::is_duplicate_key(const SendContext& sending) const {
  if (sending.sender == nullptr || !sending.meta.delivery) return false;
  const auto& key = sending.meta.delivery->idempotency_key;
  return !key.empty() && sending.sender->sent_ids->recent_keys.contains(key);
}

void SendReplies::refuse(SendContext& sending, NackCode code, std::string_view message, std::int64_t retry_after_ms) {
  if (sending.number && !is_retryable(code)) {
    // The outbox drops it and continues, so its number counts as answered and is remembered as refused.
    commits_.change(records::SetOutboxMark{sending.sender->outboxes.advance(
        sending.from, sending.connection.capabilities->outbox, *sending.number, true, context_.wall())});
    commits_.when_committed([this, connection = sending.connection.id, id = std::string{sending.envelope.id},
                             from = sending.from, epoch = sending.connection.capabilities->outbox,
                             number = *sending.number, code, message = std::string{message}](CommitResult result) {
      if (AgentState* sender = agents_.find(from.value()); sender != nullptr && result == CommitResult::Failed) {
        sender->outboxes.roll_back(epoch, number);
      }
      ConnectionState* client = connections_.find(connection);
      if (client == nullptr || !client->is_open()) return;
      if (result == CommitResult::Done)
        refuse(*client, id, code, message);
      else
        refuse(*client, id, NackCode::Storage, "the answer could not be stored; try again", kStorageRetryMs);
    });
    return;
  }
  refuse(sending.connection, sending.envelope.id, code, message, retry_after_ms);
}

void SendReplies::refuse(ConnectionState& connection, std::string_view id, NackCode code, std::string_view message,
                         std::int64_t retry_after_ms) {
  if (!connection.wants_answers()) {
    connections_.send_error(connection, error_code_of(code), message);
    return;
  }
  connections_.send_new(connection, MessageType::Nack, protocol::write_nack(id, code, message, retry_after_ms));
}

void SendReplies::remember(SendContext& sending, PendingSend& pending) {
  if (sending.sender == nullptr) return;
  if (sending.number) {
    pending.epoch = sending.connection.capabilities->outbox;
    pending.number = *sending.number;
    commits_.change(records::SetOutboxMark{
        sending.sender->outboxes.advance(sending.from, pending.epoch, pending.number, false, context_.wall())});
  } else {
    sending.sender->sent_ids->recent.add(pending.id, pending.message ? pending.message->key : Key{});
  }
}

bool SendReplies::was_executed(const SendContext& sending) const {
  return sending.sender != nullptr && sending.sender->sent_ids->executed.contains(sending.envelope.id);
}

void SendReplies::acknowledge_when_saved(SendContext& sending) {
  PendingSend pending{.connection = {},
                      .id = std::string{sending.envelope.id},
                      .from = sending.from,
                      .epoch = {},
                      .message = nullptr,
                      .deliveries = {}};
  remember(sending, pending);
  commits_.when_committed([this, connection = sending.connection.id, id = pending.id, from = sending.from,
                           epoch = pending.epoch, number = pending.number](CommitResult result) {
    if (result == CommitResult::Failed) {
      // It is executed, and a later commit saves its changes. When it is repeated, only the answer is missing.
      if (AgentState* sender = agents_.find(from.value())) sender->sent_ids->executed.add(id);
      forget_id(from, id, epoch, number);
    }
    ConnectionState* client = connections_.find(connection);
    if (client == nullptr || !client->wants_answers()) return;
    if (result == CommitResult::Done)
      connections_.send_new(*client, MessageType::Ack, protocol::write_ack(id));
    else
      refuse(*client, id, NackCode::Storage, "it could not be stored; try again", kStorageRetryMs);
  });
}

void SendReplies::forget_id(const AgentName& from, const std::string& id, const std::string& epoch,
                            std::uint64_t number) {
  AgentState* sender = agents_.find(from.value());
  if (sender == nullptr) return;
  if (number != 0)
    sender->outboxes.roll_back(epoch, number);
  else
    sender->sent_ids->recent.remove(id);
}

void SendReplies::remember_key(const SendContext& sending, const std::string& idempotency_key) {
  if (sending.sender != nullptr && !idempotency_key.empty()) sending.sender->sent_ids->recent_keys.add(idempotency_key);
}

void SendReplies::forget(const PendingSend& send) {
  forget_id(send.from, send.id, send.epoch, send.number);
  AgentState* sender = agents_.find(send.from.value());
  const auto meta = protocol::parse_send_meta(send.message->payload_meta);
  if (sender != nullptr && meta && meta->delivery)
    sender->sent_ids->recent_keys.remove(meta->delivery->idempotency_key);
}

void SendReplies::restore(const records::WorkspaceState& state) {
  for (const auto& recent : state.recent_ids) {
    if (AgentState* agent = agents_.find(recent.from.value())) agent->sent_ids->recent.add(recent.id, recent.message);
  }
  for (const auto& recent : state.recent_keys) {
    if (AgentState* agent = agents_.find(recent.from.value())) agent->sent_ids->recent_keys.add(recent.idempotency_key);
  }
}

bool SendReplies::is_using(const AgentState& agent) const {
  const auto last_used = std::max(agent.record->last_seen, agent.session ? agent.session->ended : 0);
  return !agent.sent_ids->recent.empty() && last_used >= context_.wall() - kIdRetentionMs;
}

}  // namespace relay::broker
