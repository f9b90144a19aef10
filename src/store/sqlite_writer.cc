#include "store/sqlite_writer.h"

#include <algorithm>

#include "base/format.h"
#include "records/short_id.h"
#include "store/message_rows.h"
#include "store/message_store.h"
#include "store/sqlite_queries.h"
#include "store/sqlite_removal.h"
#include "store/sqlite_rows.h"
#include "store/sqlite_schema.h"
#include "store/store_identity.h"

namespace relay::store {

using namespace records;

namespace {

template <class Enum>
std::int64_t number_of(Enum value) {
  return static_cast<std::int64_t>(value);
}

}  // namespace

Result<void> SqliteWriter::apply(const Change& change) {
  return std::visit([this](const auto& one) { return on(one); }, change);
}

void SqliteWriter::on_rollback() {
  names_.forget_cache();
  streams_.clear();
  marks_.clear();
  newest_message_ = 0;
  newest_rank_ = 0;
  reached_ = 0;
  events_.on_rollback();
}

Result<void> SqliteWriter::on(const AddMessage& change) {
  const auto& message = change.message;
  const auto sender = RELAY_TRY(names_.number(message.from.value()));
  const auto recipient = RELAY_TRY(names_.number(message.to));
  const auto add = RELAY_TRY(
      connection_.use("INSERT INTO messages(key,id,ts,sender,recipient,topic,kind,thread,session,payload_meta,payload)"
                      " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)"));
  // Nearly every message is of the kind "message": it costs nothing to say so.
  const std::string_view kind = message.kind == "message" ? std::string_view{} : message.kind;
  add->bind(message.key.value(), std::string_view{message.id}, message.ts, sender, recipient,
            OrNull{message.topic.value()}, OrNull{kind}, OrNull{message.thread}, OrNull{message.session.value()},
            OrNull{message.payload_meta}, std::string_view{message.payload});
  RELAY_TRY(add->run());
  newest_message_ = message.key.value();
  return events_.add_message(message);
}

Result<void> SqliteWriter::on(const AddDelivery& change) {
  const auto& delivery = change.delivery;
  if (delivery.message.value() != newest_message_) {
    const auto find = RELAY_TRY(connection_.use("SELECT 1 FROM messages WHERE key=?1"));
    find->bind(delivery.message.value());
    if (!RELAY_TRY(find->step())) {
      return fail(Errc::BadChange, format("delivery {} names a message that is not stored", delivery_id(delivery.key)));
    }
  }
  const auto sender = RELAY_TRY(names_.number(delivery.from.value()));
  const auto recipient = RELAY_TRY(names_.number(delivery.to.value()));
  const auto wait = wait_of(delivery.state, delivery.hold);
  const auto add = RELAY_TRY(
      connection_.use("INSERT INTO deliveries(key,message,recipient,seq,carriage,shadow_of,state,proof,expires_at,"
                      "queued_offline,sender,lane,rank,wait,available_at,attempts)"
                      " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16)"));
  add->bind(delivery.key.value(), delivery.message.value(), recipient, static_cast<std::int64_t>(delivery.seq.value()),
            number_of(delivery.carriage), OrNull{delivery.shadow_of}, number_of(delivery.state),
            number_of(delivery.proof), delivery.expires_at, std::int64_t{delivery.queued_offline}, sender,
            std::int64_t{protocol::code_of(delivery.lane)}, delivery.rank.value(), number_of(wait),
            wait == Wait::Time ? delivery.available_at : 0, std::int64_t{delivery.attempts});
  RELAY_TRY(add->run());
  if (delivery.rank > delivery.key) newest_rank_ = std::max(newest_rank_, delivery.rank.value());
  // The usual first line (queued, stored, at the message's time) is read from the row itself; only another beginning
  // needs a line of its own.
  if (delivery.state == DeliveryState::Queued && delivery.proof == Proof::Stored && change.reason.empty() &&
      change.at == 0) {
    return events_.add_line(delivery.key, {}, delivery.state, change.at, true);
  }
  const auto first =
      RELAY_TRY(connection_.use("INSERT INTO delivery_history(delivery,n,at,state,proof,reason)"
                                " SELECT ?1,0,iif(?6=0,ts,?6),?3,?4,?5 FROM messages WHERE key=?2"));
  first->bind(delivery.key.value(), delivery.message.value(), number_of(delivery.state), number_of(delivery.proof),
              OrNull{change.reason}, change.at);
  RELAY_TRY(first->run());
  return events_.add_line(delivery.key, {}, delivery.state, change.at, true);
}

Result<void> SqliteWriter::add_history(std::int64_t delivery, const DeliveryEvent& event) {
  const auto add = RELAY_TRY(connection_.use(
      "INSERT INTO delivery_history(delivery,n," RELAY_HISTORY_COLUMNS
      ") VALUES(?1,(SELECT coalesce(max(n),0)+1 FROM delivery_history WHERE delivery=?1),?2,?3,?4,?5,?6,?7)"));
  add->bind(delivery, event.at, number_of(event.state), number_of(event.proof), OrNull{event.reason}, OrNull{event.way},
            OrNull{event.evidence});
  return add->run();
}

Result<void> SqliteWriter::on(const ChangeDelivery& change) {
  if (!RELAY_TRY(update(change))) return {};
  RELAY_TRY(add_history(change.key.value(),
                        {change.at, change.state, change.proof, change.reason, change.way, change.evidence}));
  return events_.add_line(change.key, change.session, change.state, change.at, false);
}

// Not RETURNING: it builds a temporary table each time, which cost more than the update itself.
Result<bool> SqliteWriter::update(const ChangeDelivery& change) {
  const auto wait = wait_of(change.state, change.hold);
  if (wait == Wait::Lane && !change.attempts) {
    // Most often it goes on waiting as it did, and no index hears of it.
    const auto stay =
        RELAY_TRY(connection_.use("UPDATE deliveries SET state=?2, proof=?3 WHERE key=?1 AND " RELAY_IN_LANE("")));
    stay->bind(change.key.value(), number_of(change.state), number_of(change.proof));
    RELAY_TRY(stay->run());
    if (connection_.rows_changed() > 0) return true;
  }
  // The condition is records::may_change().
  const auto move = RELAY_TRY(connection_.use(
      "UPDATE deliveries SET state=?2, proof=?3, wait=?4, available_at=?5, attempts=iif(?6<0,attempts,?6) WHERE key=?1"
      " AND (" RELAY_PENDING("") " OR (state=2 AND ?2=2 AND proof<?3) OR (" RELAY_DEAD(
          "") " AND ?2=6)"
              " OR (state IN (5,7) AND ?2 IN (2,4,7,8) AND ?2<>state) OR (state=6 AND ?2 IN (2,7)))"));
  move->bind(change.key.value(), number_of(change.state), number_of(change.proof), number_of(wait),
             wait == Wait::Time ? change.available_at : 0,
             change.attempts ? std::int64_t{*change.attempts} : std::int64_t{-1});
  RELAY_TRY(move->run());
  return connection_.rows_changed() > 0;
}

Result<void> SqliteWriter::on(const RequeueDelivery& change) {
  {
    const auto update = RELAY_TRY(
        connection_.use("UPDATE deliveries SET state=0, proof=0, wait=0, available_at=0, lane=?2, rank=?3, seq=?4"
                        " WHERE key=?1 AND " RELAY_PENDING("")));
    update->bind(change.key.value(), std::int64_t{protocol::code_of(change.lane)}, change.rank.value(),
                 static_cast<std::int64_t>(change.seq.value()));
    RELAY_TRY(update->run());
    if (connection_.rows_changed() == 0) return {};
  }
  newest_rank_ = std::max(newest_rank_, change.rank.value());
  RELAY_TRY(add_history(change.key.value(), {change.at, DeliveryState::Queued, Proof::Stored, change.reason}));
  return events_.add_line(change.key, {}, DeliveryState::Queued, change.at, false);
}

Result<void> SqliteWriter::on(const AddEvent& change) { return events_.add(change.event); }

Result<void> SqliteWriter::on(const PutUsage& change) { return events_.put(change.usage); }

Result<void> SqliteWriter::on(const CountWork& change) { return events_.count(change.session, change.more, change.at); }

Result<void> SqliteWriter::on(const SetStream& change) {
  const auto sender = RELAY_TRY(names_.number(change.stream.from.value()));
  const auto recipient = RELAY_TRY(names_.number(change.stream.to.value()));
  const auto [known, added] =
      streams_.try_emplace({sender, recipient, change.stream.topic.value(), change.stream.lane}, change.stream);
  if (added) return {};
  known->second.last = std::max(known->second.last, change.stream.last);
  known->second.acked = std::max(known->second.acked, change.stream.acked);
  return {};
}

Result<void> SqliteWriter::finish_group() {
  for (const auto& [key, stream] : streams_) RELAY_TRY(write(std::get<0>(key), std::get<1>(key), stream));
  for (const auto& [key, mark] : marks_) RELAY_TRY(write(mark));
  if (newest_rank_ > 0) RELAY_TRY(remember_newest_key(connection_, Key{newest_rank_}));
  newest_rank_ = 0;
  if (reached_ > 0) RELAY_TRY(remember_place_in_journal(connection_, reached_));
  reached_ = 0;
  streams_.clear();
  marks_.clear();
  return {};
}

Result<void> SqliteWriter::write(std::int64_t sender, std::int64_t recipient, const Stream& stream) {
  const auto set = RELAY_TRY(
      connection_.use("INSERT INTO streams(topic,sender,recipient,last,acked,lane) VALUES(?1,?2,?3,?4,?5,?6)"
                      " ON CONFLICT DO UPDATE SET last=max(last,excluded.last), acked=max(acked,excluded.acked)"));
  set->bind(std::string_view{stream.topic.value()}, sender, recipient, static_cast<std::int64_t>(stream.last.value()),
            static_cast<std::int64_t>(stream.acked.value()), std::int64_t{protocol::code_of(stream.lane)});
  return set->run();
}

Result<ExpireResult> SqliteWriter::expire(const ExpireRequest& request) {
  ExpireResult result;
  std::vector<Proof> proofs;
  {
    const auto due = RELAY_TRY(
        connection_.use("SELECT d.key, d.message, s.name, r.name, m.id, d.proof, d.wait"
                        " FROM deliveries d INDEXED BY deliveries_expiring CROSS JOIN messages m ON m.key=d.message"
                        " JOIN names s ON s.id=m.sender JOIN names r ON r.id=d.recipient"
                        " WHERE " RELAY_PENDING(
                            "d.") " AND d.expires_at>0 AND d.expires_at<=?1 ORDER BY d.expires_at, d.key LIMIT ?2"));
    due->bind(request.now, static_cast<std::int64_t>(request.max_rows));
    while (RELAY_TRY(due->step())) {
      result.expired.push_back({Key{due->integer(0)}, Key{due->integer(1)}, AgentName{due->text(2)},
                                AgentName{due->text(3)}, due->text(4), read_hold(due->integer(6)),
                                state_when_late(read_proof(due->integer(5)))});
      proofs.push_back(read_proof(due->integer(5)));
    }
  }
  for (std::size_t at = 0; at < result.expired.size(); ++at) {
    RELAY_TRY(on(ChangeDelivery{result.expired[at].delivery, result.expired[at].state, proofs[at], request.now,
                                kReasonExpired}));
  }
  const auto next =
      RELAY_TRY(connection_.use("SELECT expires_at FROM deliveries INDEXED BY deliveries_expiring WHERE " RELAY_PENDING(
          "") " AND expires_at>0 ORDER BY expires_at LIMIT 1"));
  if (RELAY_TRY(next->step())) result.next_expiry = next->integer(0);
  return result;
}

Result<void> SqliteWriter::on(const RemoveAgent& change) {
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
    std::ranges::sort(pending);  // as every store tells it
    for (const auto& [key, proof] : pending) {
      RELAY_TRY(on(ChangeDelivery{Key{key}, DeliveryState::Cancelled, proof, change.at, kReasonRemoved}));
    }
    if (change.with_messages) RELAY_TRY(remove_messages_of(*agent));
  }
  for (const char* sql : {"DELETE FROM agents WHERE name=?1", "DELETE FROM channel_members WHERE member=?1"}) {
    const auto remove = RELAY_TRY(connection_.use(sql));
    remove->bind(name);
    RELAY_TRY(remove->run());
  }
  const auto end = RELAY_TRY(connection_.use("UPDATE sessions SET ended=?2 WHERE agent=?1 AND ended=0"));
  end->bind(name, change.at);
  return end->run();
}

Result<void> SqliteWriter::remove_messages_of(std::int64_t agent) {
  std::vector<std::int64_t> keys;
  {
    const auto find = RELAY_TRY(connection_.use("SELECT key FROM messages WHERE sender=?1"));
    find->bind(agent);
    while (RELAY_TRY(find->step())) keys.push_back(find->integer(0));
  }
  Removal removal = RELAY_TRY(Removal::prepare(connection_));
  for (const auto key : keys) RELAY_TRY(removal.remove_unless_pending(key));
  newest_message_ = 0;
  return {};
}

}  // namespace relay::store
