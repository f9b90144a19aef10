#include "store/sqlite/writer.h"

#include <algorithm>

#include "base/format.h"
#include "protocol/send.h"
#include "records/short_id.h"
#include "store/message_rows.h"
#include "store/message_store.h"
#include "store/sqlite/queries.h"
#include "store/sqlite/removal.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/store_identity.h"

namespace relay::store {

using namespace records;

namespace {

constexpr std::size_t kMaxBatchBytes = 1 << 20;  // of one group; more is written before its end

}  // namespace

Result<void> SqliteWriter::apply(const Change& change) {
  RELAY_TRY(std::visit([this](const auto& one) { return on(one); }, change));
  return batch_bytes() > kMaxBatchBytes ? flush_batches() : Result<void>{};
}

void SqliteWriter::on_rollback() {
  names_.clear_cache();
  streams_.clear();
  marks_.clear();
  counts_.clear();
  messages_.clear();
  newest_message_ = {};
  newest_stored_ = -1;
  newest_rank_ = 0;
  journal_reach_ = {};
  events_.on_rollback();
  deliveries_.clear();
}

Result<bool> SqliteWriter::is_stored(Key message) {
  if (newest_stored_ < 0) newest_stored_ = RELAY_TRY(connection_.integer("SELECT max(key) FROM messages"));
  if (message.value() > newest_stored_) return false;
  return RELAY_TRY(find(message)).has_value();
}

Result<std::optional<SqliteWriter::MessageFields>> SqliteWriter::find(Key message) {
  if (message == newest_message_.key) return std::optional{newest_message_};
  RELAY_TRY(flush_batches());
  const auto row = RELAY_TRY(connection_.use("SELECT ts, recipient FROM messages WHERE key=?1"));
  row->bind(message.value());
  if (!RELAY_TRY(row->step())) return std::optional<MessageFields>{};
  return std::optional{MessageFields{message, row->integer(0), row->integer(1)}};
}

Result<void> SqliteWriter::on(const AddMessage& change) {
  const auto& message = change.message;
  if (RELAY_TRY(is_stored(message.key)))
    return fail(Errc::BadChange, format("message {} is stored already", short_id(message.key)));
  const auto sender = RELAY_TRY(names_.number(message.from.value()));
  const auto recipient = RELAY_TRY(names_.number(message.to));
  // Nearly every message has the kind "message", which is stored as NULL.
  const std::string_view kind = message.kind == "message" ? std::string_view{} : message.kind;
  messages_.add(message.key.value(), std::string_view{message.id}, message.ts, sender, recipient,
                OrNull{message.topic.value()}, OrNull{kind}, OrNull{message.thread}, OrNull{message.session.value()},
                OrNull{message.payload_meta}, std::string_view{message.payload});
  newest_message_ = {message.key, message.ts, recipient};
  newest_stored_ = std::max(newest_stored_, message.key.value());
  ++counts_[sender].sent;
  return events_.add_message(message, sender);
}

Result<void> SqliteWriter::on(const AddDelivery& change) {
  const auto& delivery = change.delivery;
  const auto message = RELAY_TRY(find(delivery.message));
  if (!message)
    return fail(Errc::BadChange, format("delivery {} names a message that is not stored", delivery_id(delivery.key)));
  const auto sender = RELAY_TRY(names_.number(delivery.from.value()));
  const auto recipient = RELAY_TRY(names_.number(delivery.to.value()));
  RELAY_TRY(deliveries_.add(change, {sender, recipient, recipient == message->recipient}, message->ts));
  if (delivery.state == DeliveryState::Delivered) ++counts_[recipient].received;
  if (delivery.rank > delivery.key) newest_rank_ = std::max(newest_rank_, delivery.rank.value());
  return {};
}

Result<void> SqliteWriter::on(const ChangeDelivery& change) {
  const auto recipient = RELAY_TRY(deliveries_.change(change));
  if (recipient != 0) ++counts_[recipient].received;
  return {};
}

Result<void> SqliteWriter::on(const RequeueDelivery& change) {
  if (RELAY_TRY(deliveries_.requeue(change))) newest_rank_ = std::max(newest_rank_, change.rank.value());
  return {};
}

Result<void> SqliteWriter::on(const AddEvent& change) { return events_.add(change.event); }

Result<void> SqliteWriter::on(const PutUsage& change) { return events_.put(change.usage); }

Result<void> SqliteWriter::on(const AddSessionStats& change) {
  return events_.count(change.session, change.more, change.at);
}

Result<void> SqliteWriter::on(const SetStream& change) {
  const auto sender = RELAY_TRY(names_.number(change.stream.from.value()));
  const auto recipient = RELAY_TRY(names_.number(change.stream.to.value()));
  const auto [entry, added] =
      streams_.try_emplace({sender, recipient, change.stream.topic.value(), change.stream.lane}, change.stream);
  if (added) return {};
  entry->second.last = std::max(entry->second.last, change.stream.last);
  entry->second.acked = std::max(entry->second.acked, change.stream.acked);
  return {};
}

Result<void> SqliteWriter::on(const ForgetStream& change) {
  const auto& stream = change.stream;
  const auto sender = RELAY_TRY(names_.number(stream.from.value()));
  const auto recipient = RELAY_TRY(names_.number(stream.to.value()));
  const auto lane = std::int64_t{protocol::lane_code(stream.lane)};
  const auto last = static_cast<std::int64_t>(stream.last.value());
  const auto pending = streams_.find({sender, recipient, stream.topic.value(), stream.lane});
  if (pending != streams_.end() && pending->second.last <= stream.last) streams_.erase(pending);
  const auto remove = RELAY_TRY(
      connection_.use("DELETE FROM streams WHERE sender=?1 AND recipient=?2 AND topic=?3 AND lane=?4 AND last<=?5"));
  remove->bind(sender, recipient, std::string_view{stream.topic.value()}, lane, last);
  RELAY_TRY(remove->run());
  const auto mark =
      RELAY_TRY(connection_.use("INSERT INTO stream_marks(sender,recipient,lane,last) VALUES(?1,?2,?3,?4)"
                                " ON CONFLICT DO UPDATE SET last=max(last,excluded.last)"));
  mark->bind(sender, recipient, lane, last);
  return mark->run();
}

Result<void> SqliteWriter::flush_batches() {
  RELAY_TRY(messages_.write(
      connection_,
      "INSERT OR FAIL INTO messages(key,id,ts,sender,recipient,topic,kind,thread,session,payload_meta,payload)"
      " SELECT c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11 FROM row_batch(?1)"));
  RELAY_TRY(deliveries_.write());
  return events_.write();
}

Result<void> SqliteWriter::finish_group() {
  RELAY_TRY(flush_batches());
  for (const auto& [key, stream] : streams_) RELAY_TRY(write(std::get<0>(key), std::get<1>(key), stream));
  for (const auto& [key, mark] : marks_) RELAY_TRY(write(mark));
  RELAY_TRY(write_counts());
  if (newest_rank_ > 0) RELAY_TRY(remember_newest_key(connection_, Key{newest_rank_}));
  newest_rank_ = 0;
  if (journal_reach_.commits > 0) RELAY_TRY(store_journal_position(connection_, journal_reach_, durability_));
  journal_reach_ = {};
  streams_.clear();
  marks_.clear();
  return {};
}

Result<void> SqliteWriter::write_counts() {
  for (const auto& [name, counts] : counts_) {
    const auto add =
        RELAY_TRY(connection_.use("INSERT INTO message_counts(name,sent,received) SELECT n.id,?2,?3 FROM names n"
                                  " WHERE n.id=?1 AND EXISTS(SELECT 1 FROM agents a WHERE a.name=n.name)"
                                  " ON CONFLICT DO UPDATE SET sent=sent+excluded.sent,"
                                  " received=received+excluded.received"));
    add->bind(name, counts.sent, counts.received);
    RELAY_TRY(add->run());
  }
  counts_.clear();
  return {};
}

Result<void> SqliteWriter::write(std::int64_t sender, std::int64_t recipient, const Stream& stream) {
  const auto set = RELAY_TRY(
      connection_.use("INSERT INTO streams(topic,sender,recipient,last,acked,lane) VALUES(?1,?2,?3,?4,?5,?6)"
                      " ON CONFLICT DO UPDATE SET last=max(last,excluded.last), acked=max(acked,excluded.acked)"));
  set->bind(std::string_view{stream.topic.value()}, sender, recipient, static_cast<std::int64_t>(stream.last.value()),
            static_cast<std::int64_t>(stream.acked.value()), std::int64_t{protocol::lane_code(stream.lane)});
  return set->run();
}

Result<ExpireResult> SqliteWriter::expire(const ExpireRequest& request) {
  RELAY_TRY(flush_batches());
  ExpireResult result;
  std::vector<Proof> proofs;
  {
    const auto due = RELAY_TRY(connection_.use(
        "SELECT d.key, d.message, s.name, r.name, m.id, d.proof, d.queue_state, m.payload_meta, d.expires_at"
        " FROM deliveries d INDEXED BY deliveries_expiring CROSS JOIN messages m ON m.key=d.message"
        " JOIN names s ON s.id=m.sender JOIN names r ON r.id=d.recipient"
        " WHERE " RELAY_PENDING(
            "d.") " AND d.expires_at>0 AND d.expires_at<=?1 ORDER BY d.expires_at, d.key LIMIT ?2"));
    due->bind(request.now, static_cast<std::int64_t>(request.max_rows));
    while (RELAY_TRY(due->step())) {
      result.expired.push_back({Key{due->integer(0)}, Key{due->integer(1)}, AgentName{due->text(2)},
                                AgentName{due->text(3)}, due->text(4), read_hold(due->integer(6)),
                                state_on_expiry(read_proof(due->integer(5))),
                                std::string{protocol::expiry_reason(due->text(7), due->integer(8))}});
      proofs.push_back(read_proof(due->integer(5)));
    }
  }
  for (std::size_t at = 0; at < result.expired.size(); ++at) {
    RELAY_TRY(on(ChangeDelivery{result.expired[at].delivery, result.expired[at].state, proofs[at], request.now,
                                result.expired[at].reason}));
  }
  RELAY_TRY(flush_batches());
  const auto next =
      RELAY_TRY(connection_.use("SELECT expires_at FROM deliveries INDEXED BY deliveries_expiring WHERE " RELAY_PENDING(
          "") " AND expires_at>0 ORDER BY expires_at LIMIT 1"));
  if (RELAY_TRY(next->step())) result.next_expiry = next->integer(0);
  return result;
}

Result<void> SqliteWriter::on(const RemoveAgent& change) {
  RELAY_TRY(flush_batches());
  RELAY_TRY(write_counts());
  const std::string_view name = change.name.value();
  const auto agent = RELAY_TRY(find_name(connection_, name));
  if (agent) {
    std::vector<std::pair<std::int64_t, Proof>> pending;
    {
      const auto find = RELAY_TRY(connection_.use(
          "SELECT key, proof FROM deliveries INDEXED BY deliveries_waiting WHERE recipient=?1 AND " RELAY_IN_LANE(
              "") " UNION ALL SELECT key, proof FROM deliveries INDEXED BY deliveries_held WHERE recipient=?1"
                  " AND " RELAY_HELD("")));
      find->bind(*agent);
      while (RELAY_TRY(find->step())) pending.emplace_back(find->integer(0), read_proof(find->integer(1)));
    }
    std::ranges::sort(pending);  // every store emits these events by key
    for (const auto& [key, proof] : pending) {
      RELAY_TRY(on(ChangeDelivery{Key{key}, DeliveryState::Cancelled, proof, change.at, kReasonRemoved}));
    }
    if (change.with_messages) RELAY_TRY(remove_messages_of(*agent));
  }
  for (const char* sql : {"DELETE FROM agents WHERE name=?1", "DELETE FROM channel_members WHERE member=?1",
                          "DELETE FROM message_counts WHERE name=(SELECT id FROM names WHERE name=?1)"}) {
    const auto remove = RELAY_TRY(connection_.use(sql));
    remove->bind(name);
    RELAY_TRY(remove->run());
  }
  const auto unsubscribe = RELAY_TRY(connection_.use(
      "DELETE FROM subscriptions WHERE session IN (SELECT id FROM sessions WHERE agent=?1 AND ended=0)"));
  unsubscribe->bind(name);
  RELAY_TRY(unsubscribe->run());
  const auto end = RELAY_TRY(connection_.use("UPDATE sessions SET ended=?2 WHERE agent=?1 AND ended=0"));
  end->bind(name, change.at);
  return end->run();
}

Result<void> SqliteWriter::remove_messages_of(std::int64_t agent) {
  RELAY_TRY(flush_batches());
  std::vector<std::int64_t> keys;
  {
    const auto find = RELAY_TRY(connection_.use("SELECT key FROM messages WHERE sender=?1"));
    find->bind(agent);
    while (RELAY_TRY(find->step())) keys.push_back(find->integer(0));
  }
  MessageRemover remover = RELAY_TRY(MessageRemover::prepare(connection_));
  for (const auto key : keys) RELAY_TRY(remover.remove_unless_pending(key));
  newest_message_ = {};
  return {};
}

}  // namespace relay::store
