/// The deliveries that one group adds or changes, kept in memory until its end. Private to src/store.
///
/// Why: within a group most deliveries are added and reach their last state. Such a delivery is written once, and never
///   enters the indexes of pending deliveries only to leave them again.
/// Invariants: every history entry and every event is the same as without the batch; until write() the batch is newer
///   than the database. Bounded: the writer calls write() when the batch is large.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "records/changes.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/events.h"
#include "store/sqlite/row_batch.h"

namespace relay::store {

class DeliveryBatch {
 public:
  DeliveryBatch(SqliteConnection& connection, EventWriter& events) : connection_{connection}, events_{events} {}

  struct Parties {
    std::int64_t sender = 0, recipient = 0;  // numbers of names
    bool addressed = false;                  // the message is addressed to the recipient, not to several
  };
  /// Adds a delivery; `message_ts` is the time of its message.
  Result<void> add(const records::AddDelivery& change, Parties parties, WallMs message_ts);
  /// The number of the recipient whose delivery became Delivered; 0: none did.
  Result<std::int64_t> change(const records::ChangeDelivery& change);
  /// False when the delivery is unknown or final.
  Result<bool> requeue(const records::RequeueDelivery& change);

  /// Writes the batch as rows.
  Result<void> write();
  void clear();
  [[nodiscard]] std::size_t bytes() const { return entries_.size() * sizeof(Entry) + history_.bytes(); }

 private:
  enum class RowChange : std::uint8_t {
    AsStored,
    Changed,  // with the same queue state: no index changes
    Moved,
    New,
  };
  struct Entry {
    records::Delivery delivery;  // names only where it is new
    Parties parties;
    std::int64_t entry_number = 0;  // of its newest entry
    records::HistoryEntry newest = {};
    bool is_implicit = true;  // the newest entry is the implicit first one, which is not written
    RowChange row_change = RowChange::New;
  };
  /// Null when the delivery is unknown.
  Result<Entry*> find(Key key);
  Result<bool> is_stored(Key key);
  Result<void> add_entry(Entry& entry, records::HistoryEntry newest, const SessionId& session);
  Result<void> write_new();
  Result<void> update(const Entry& entry);

  SqliteConnection& connection_;
  EventWriter& events_;
  std::vector<Entry> entries_;
  std::unordered_map<Key, std::size_t> index_by_key_;  // in entries_
  RowBatch rows_, history_;
  std::int64_t newest_stored_ = -1;  // the highest key of all that are stored; -1: not read yet
};

}  // namespace relay::store
