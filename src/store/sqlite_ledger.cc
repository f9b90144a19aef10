#include "store/sqlite_ledger.h"

#include <algorithm>

#include "base/format.h"
#include "records/short_id.h"
#include "store/message_store.h"
#include "store/sqlite_rows.h"
#include "store/sqlite_schema.h"

namespace relay::store {

using namespace records;

namespace {

template <class Enum>
std::int64_t code_of(Enum value) {
  return static_cast<std::int64_t>(value);
}

std::int64_t sequence_of(const Delivery& delivery) { return static_cast<std::int64_t>(delivery.seq.value()); }

Wait wait_of(const Delivery& delivery) { return store::wait_of(delivery.state, delivery.hold); }

std::int64_t available_at(const Delivery& delivery) {
  return wait_of(delivery) == Wait::Time ? delivery.available_at : 0;
}

}  // namespace

Result<bool> DeliveryLedger::is_stored(Key key) {
  if (places_.contains(key)) return true;
  if (newest_stored_ < 0) newest_stored_ = RELAY_TRY(connection_.integer("SELECT max(key) FROM deliveries"));
  if (key.value() > newest_stored_) return false;
  const auto find = RELAY_TRY(connection_.use("SELECT 1 FROM deliveries WHERE key=?1"));
  find->bind(key.value());
  return find->step();
}

Result<void> DeliveryLedger::add(const AddDelivery& change, Parties parties, WallMs message_ts) {
  const auto& delivery = change.delivery;
  if (RELAY_TRY(is_stored(delivery.key)))
    return fail(Errc::BadChange, format("delivery {} is stored already", delivery_id(delivery.key)));
  places_.emplace(delivery.key, entries_.size());
  entries_.push_back({delivery, parties});
  // The usual first line (queued, stored, at the message's time) is read from the row itself; only another beginning
  // needs a line of its own.
  const bool usual = delivery.state == DeliveryState::Queued && delivery.proof == Proof::Stored &&
                     change.reason.empty() && change.at == 0;
  if (!usual) {
    history_.add(delivery.key.value(), std::int64_t{0}, change.at == 0 ? message_ts : change.at,
                 code_of(delivery.state), code_of(delivery.proof), OrNull{change.reason}, OrNull{}, OrNull{});
  }
  return events_.add_line({delivery.key, 0, parties.recipient}, {}, delivery.state, change.at);
}

Result<DeliveryLedger::Entry*> DeliveryLedger::find(Key key) {
  if (const auto known = places_.find(key); known != places_.end()) return &entries_[known->second];
  const auto row = RELAY_TRY(
      connection_.use("SELECT recipient,lane,rank,seq,state,proof,wait,available_at,attempts,"
                      "(SELECT max(n) FROM delivery_history WHERE delivery=?1) FROM deliveries WHERE key=?1"));
  row->bind(key.value());
  if (!RELAY_TRY(row->step())) return nullptr;
  Entry entry;
  entry.standing = Standing::AsStored;
  entry.parties.recipient = row->integer(0);
  auto& delivery = entry.delivery;
  delivery.key = key;
  delivery.lane = read_lane(row->integer(1));
  delivery.rank = Key{row->integer(2)};
  delivery.seq = Seq{static_cast<std::uint64_t>(row->integer(3))};
  delivery.state = read_state(row->integer(4));
  delivery.proof = read_proof(row->integer(5));
  delivery.hold = read_hold(row->integer(6));
  delivery.available_at = row->integer(7);
  delivery.attempts = static_cast<std::uint32_t>(row->integer(8));
  entry.newest_line = row->integer(9);
  places_.emplace(key, entries_.size());
  return &entries_.emplace_back(std::move(entry));
}

Result<void> DeliveryLedger::add_line(Entry& entry, const DeliveryEvent& line, const SessionId& session) {
  const auto key = entry.delivery.key;
  history_.add(key.value(), ++entry.newest_line, line.at, code_of(line.state), code_of(line.proof), OrNull{line.reason},
               OrNull{line.way}, OrNull{line.evidence});
  return events_.add_line({key, entry.newest_line, entry.parties.recipient}, session, line.state, line.at);
}

Result<void> DeliveryLedger::change(const ChangeDelivery& change) {
  Entry* entry = RELAY_TRY(find(change.key));
  if (entry == nullptr) return {};
  auto& delivery = entry->delivery;
  if (!may_change(delivery.state, delivery.proof, change.state, change.proof)) return {};
  const auto before = std::pair{wait_of(delivery), available_at(delivery)};
  delivery.state = change.state;
  delivery.proof = change.proof;
  delivery.hold = change.hold;
  delivery.available_at = change.available_at;
  const bool moved = before != std::pair{wait_of(delivery), available_at(delivery)};
  entry->standing = std::max(entry->standing, moved ? Standing::Moved : Standing::Changed);
  delivery.attempts = change.attempts.value_or(delivery.attempts);
  return add_line(*entry, {change.at, change.state, change.proof, change.reason, change.way, change.evidence},
                  change.session);
}

Result<bool> DeliveryLedger::requeue(const RequeueDelivery& change) {
  Entry* entry = RELAY_TRY(find(change.key));
  if (entry == nullptr || is_final(entry->delivery.state)) return false;
  auto& delivery = entry->delivery;
  delivery.state = DeliveryState::Queued;
  delivery.proof = Proof::Stored;
  delivery.hold = Hold::None;
  delivery.lane = change.lane;
  delivery.rank = change.rank;
  delivery.seq = change.seq;
  entry->standing = std::max(entry->standing, Standing::Moved);
  RELAY_TRY(add_line(*entry, {change.at, delivery.state, delivery.proof, change.reason}, {}));
  return true;
}

Result<void> DeliveryLedger::write_new() {
  for (const auto& [delivery, parties, newest_line, standing] : entries_) {
    if (standing != Standing::New) continue;
    newest_stored_ = std::max(newest_stored_, delivery.key.value());
    rows_.add(delivery.key.value(), delivery.message.value(), parties.recipient, sequence_of(delivery),
              code_of(delivery.carriage), OrNull{delivery.shadow_of}, code_of(delivery.state), code_of(delivery.proof),
              delivery.expires_at, std::int64_t{delivery.queued_offline}, parties.sender,
              std::int64_t{protocol::code_of(delivery.lane)}, delivery.rank.value(), code_of(wait_of(delivery)),
              available_at(delivery), std::int64_t{delivery.attempts});
  }
  return rows_.write(connection_,
                     "INSERT OR FAIL INTO deliveries(key,message,recipient,seq,carriage,shadow_of,state,proof,"
                     "expires_at,queued_offline,sender,lane,rank,wait,available_at,attempts)"
                     " SELECT c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15,c16 FROM gathered_rows(?1)");
}

Result<void> DeliveryLedger::update(const Entry& entry) {
  const auto& delivery = entry.delivery;
  if (entry.standing == Standing::Changed) {
    const auto stay = RELAY_TRY(connection_.use("UPDATE deliveries SET state=?2,proof=?3,attempts=?4 WHERE key=?1"));
    stay->bind(delivery.key.value(), code_of(delivery.state), code_of(delivery.proof), std::int64_t{delivery.attempts});
    return stay->run();
  }
  const auto move = RELAY_TRY(
      connection_.use("UPDATE deliveries SET state=?2,proof=?3,attempts=?4,wait=?5,available_at=?6,lane=?7,rank=?8,"
                      "seq=?9 WHERE key=?1"));
  move->bind(delivery.key.value(), code_of(delivery.state), code_of(delivery.proof), std::int64_t{delivery.attempts},
             code_of(wait_of(delivery)), available_at(delivery), std::int64_t{protocol::code_of(delivery.lane)},
             delivery.rank.value(), sequence_of(delivery));
  return move->run();
}

Result<void> DeliveryLedger::write() {
  RELAY_TRY(write_new());
  for (const auto& entry : entries_)
    if (entry.standing == Standing::Changed || entry.standing == Standing::Moved) RELAY_TRY(update(entry));
  RELAY_TRY(history_.write(connection_, "INSERT OR FAIL INTO delivery_history(delivery,n," RELAY_HISTORY_COLUMNS
                                        ") SELECT c1,c2,c3,c4,c5,c6,c7,c8 FROM gathered_rows(?1)"));
  entries_.clear();
  places_.clear();
  return {};
}

void DeliveryLedger::forget() {
  entries_.clear();
  places_.clear();
  rows_.clear();
  history_.clear();
  newest_stored_ = -1;
}

}  // namespace relay::store
