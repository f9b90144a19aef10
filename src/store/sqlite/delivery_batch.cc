#include "store/sqlite/delivery_batch.h"

#include <algorithm>

#include "base/format.h"
#include "records/short_id.h"
#include "store/message_store.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/schema.h"

namespace relay::store {

using namespace records;

namespace {

template <class Enum>
std::int64_t code_of(Enum value) {
  return static_cast<std::int64_t>(value);
}

std::int64_t sequence_of(const Delivery& delivery) { return static_cast<std::int64_t>(delivery.seq.value()); }

QueueState queue_state_of(const Delivery& delivery) { return store::queue_state_of(delivery.state, delivery.hold); }

std::int64_t available_at(const Delivery& delivery) {
  return queue_state_of(delivery) == QueueState::Delayed ? delivery.available_at : 0;
}

}  // namespace

Result<bool> DeliveryBatch::is_stored(Key key) {
  if (index_by_key_.contains(key)) return true;
  if (newest_stored_ < 0) newest_stored_ = RELAY_TRY(connection_.integer("SELECT max(key) FROM deliveries"));
  if (key.value() > newest_stored_) return false;
  const auto find = RELAY_TRY(connection_.use("SELECT 1 FROM deliveries WHERE key=?1"));
  find->bind(key.value());
  return find->step();
}

Result<void> DeliveryBatch::add(const AddDelivery& change, Parties parties, WallMs message_ts) {
  const auto& delivery = change.delivery;
  if (RELAY_TRY(is_stored(delivery.key)))
    return fail(Errc::BadChange, format("delivery {} is stored already", delivery_id(delivery.key)));
  index_by_key_.emplace(delivery.key, entries_.size());
  auto& entry = entries_.emplace_back(Entry{delivery, parties});
  // The implicit first entry (queued, stored, at the message's time) is derived from the row.
  entry.is_implicit = delivery.state == DeliveryState::Queued && delivery.proof == Proof::Stored &&
                      change.reason.empty() && change.at == 0;
  if (!entry.is_implicit)
    entry.newest = {change.at == 0 ? message_ts : change.at, delivery.state, delivery.proof, change.reason};
  return events_.add_entry({delivery.key, 0, parties.recipient}, {}, delivery.state, change.at);
}

Result<DeliveryBatch::Entry*> DeliveryBatch::find(Key key) {
  if (const auto found = index_by_key_.find(key); found != index_by_key_.end()) return &entries_[found->second];
  const auto row =
      RELAY_TRY(connection_.use("SELECT "
                                "d.recipient,d.lane,d.rank,d.seq,d.queue_state,d.available_at,d.attempts,d.state,d."
                                "proof,d.entry," RELAY_NEWEST_ENTRY " FROM deliveries d WHERE d.key=?1"));
  row->bind(key.value());
  if (!RELAY_TRY(row->step())) return nullptr;
  Entry entry;
  entry.row_change = RowChange::AsStored;
  entry.parties.recipient = row->integer(0);
  auto& delivery = entry.delivery;
  delivery.key = key;
  delivery.lane = read_lane(row->integer(1));
  delivery.rank = Key{row->integer(2)};
  delivery.seq = Seq{static_cast<std::uint64_t>(row->integer(3))};
  delivery.hold = read_hold(row->integer(4));
  delivery.available_at = row->integer(5);
  delivery.attempts = static_cast<std::uint32_t>(row->integer(6));
  delivery.state = read_state(row->integer(7));
  delivery.proof = read_proof(row->integer(8));
  entry.entry_number = row->integer(9);
  entry.is_implicit = row->is_null(10);
  if (!entry.is_implicit) entry.newest = read_history_entry(*row.operator->(), 10);
  index_by_key_.emplace(key, entries_.size());
  return &entries_.emplace_back(std::move(entry));
}

Result<void> DeliveryBatch::add_entry(Entry& entry, HistoryEntry newest, const SessionId& session) {
  const auto key = entry.delivery.key;
  if (!entry.is_implicit) {
    const auto& last = entry.newest;
    history_.add(key.value(), entry.entry_number, last.at, code_of(last.state), code_of(last.proof),
                 OrNull{last.reason}, OrNull{last.via}, OrNull{last.evidence});
  }
  entry.is_implicit = false;
  RELAY_TRY(events_.add_entry({key, ++entry.entry_number, entry.parties.recipient}, session, newest.state, newest.at));
  entry.newest = std::move(newest);
  return {};
}

Result<std::int64_t> DeliveryBatch::change(const ChangeDelivery& change) {
  Entry* entry = RELAY_TRY(find(change.key));
  if (entry == nullptr) return 0;
  auto& delivery = entry->delivery;
  if (!is_legal_transition(delivery.state, delivery.proof, change.state, change.proof)) return 0;
  const bool arrived = change.state == DeliveryState::Delivered && delivery.state != DeliveryState::Delivered;
  const auto recipient = entry->parties.recipient;
  const auto before = std::pair{queue_state_of(delivery), available_at(delivery)};
  delivery.state = change.state;
  delivery.proof = change.proof;
  delivery.hold = change.hold;
  delivery.available_at = change.available_at;
  const bool moved = before != std::pair{queue_state_of(delivery), available_at(delivery)};
  entry->row_change = std::max(entry->row_change, moved ? RowChange::Moved : RowChange::Changed);
  delivery.attempts = change.attempts.value_or(delivery.attempts);
  RELAY_TRY(add_entry(*entry, {change.at, change.state, change.proof, change.reason, change.via, change.evidence},
                      change.session));
  return arrived ? recipient : 0;
}

Result<bool> DeliveryBatch::requeue(const RequeueDelivery& change) {
  Entry* entry = RELAY_TRY(find(change.key));
  if (entry == nullptr || is_final(entry->delivery.state)) return false;
  auto& delivery = entry->delivery;
  delivery.state = DeliveryState::Queued;
  delivery.proof = Proof::Stored;
  delivery.hold = Hold::None;
  delivery.lane = change.lane;
  delivery.rank = change.rank;
  delivery.seq = change.seq;
  entry->row_change = std::max(entry->row_change, RowChange::Moved);
  RELAY_TRY(add_entry(*entry, {change.at, delivery.state, delivery.proof, change.reason}, {}));
  return true;
}

Result<void> DeliveryBatch::write_new() {
  for (const auto& [delivery, parties, entry_number, newest, is_implicit, row_change] : entries_) {
    if (row_change != RowChange::New) continue;
    newest_stored_ = std::max(newest_stored_, delivery.key.value());
    rows_.add(delivery.key.value(), delivery.message.value(), parties.recipient, sequence_of(delivery),
              code_of(delivery.frame_kind), OrNull{delivery.shadow_of}, code_of(delivery.state),
              code_of(delivery.proof), delivery.expires_at, std::int64_t{delivery.queued_offline}, parties.sender,
              std::int64_t{protocol::lane_code(delivery.lane)}, delivery.rank.value(),
              code_of(queue_state_of(delivery)), available_at(delivery), std::int64_t{delivery.attempts}, entry_number,
              is_implicit ? std::nullopt : std::optional{newest.at}, OrNull{newest.reason}, OrNull{newest.via},
              OrNull{newest.evidence}, std::int64_t{parties.addressed});
  }
  return rows_.write(
      connection_,
      "INSERT OR FAIL INTO deliveries(key,message,recipient,seq,frame_kind,shadow_of,state,proof,"
      "expires_at,queued_offline,sender,lane,rank,queue_state,available_at,attempts,entry,entry_at,reason,via,"
      "evidence,addressed) SELECT c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15,c16,c17,c18,c19,c20,"
      "c21,c22 FROM row_batch(?1)");
}

#define RELAY_SET_ENTRY \
  "UPDATE deliveries SET state=?2,proof=?3,attempts=?4,entry=?5,entry_at=?6,reason=?7,via=?8,evidence=?9"

Result<void> DeliveryBatch::update(const Entry& entry) {
  const auto& [delivery, parties, entry_number, newest, is_implicit, row_change] = entry;
  const bool moved = row_change == RowChange::Moved;
  const auto update = RELAY_TRY(
      connection_.use(moved ? RELAY_SET_ENTRY ",queue_state=?10,available_at=?11,lane=?12,rank=?13,seq=?14 WHERE key=?1"
                            : RELAY_SET_ENTRY " WHERE key=?1"));
  update->bind(delivery.key.value(), code_of(delivery.state), code_of(delivery.proof), std::int64_t{delivery.attempts},
               entry_number, newest.at, OrNull{newest.reason}, OrNull{newest.via}, OrNull{newest.evidence});
  if (moved) {
    update->bind_at(10, code_of(queue_state_of(delivery)));
    update->bind_at(11, available_at(delivery));
    update->bind_at(12, std::int64_t{protocol::lane_code(delivery.lane)});
    update->bind_at(13, delivery.rank.value());
    update->bind_at(14, sequence_of(delivery));
  }
  return update->run();
}

#undef RELAY_SET_ENTRY

Result<void> DeliveryBatch::write() {
  RELAY_TRY(write_new());
  for (const auto& entry : entries_)
    if (entry.row_change == RowChange::Changed || entry.row_change == RowChange::Moved) RELAY_TRY(update(entry));
  RELAY_TRY(history_.write(connection_, "INSERT OR FAIL INTO delivery_history(delivery,n," RELAY_HISTORY_COLUMNS
                                        ") SELECT c1,c2,c3,c4,c5,c6,c7,c8 FROM row_batch(?1)"));
  entries_.clear();
  index_by_key_.clear();
  return {};
}

void DeliveryBatch::clear() {
  entries_.clear();
  index_by_key_.clear();
  rows_.clear();
  history_.clear();
  newest_stored_ = -1;
}

}  // namespace relay::store
