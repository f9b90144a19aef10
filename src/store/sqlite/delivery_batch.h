/// The deliveries that one group adds or changes, gathered until its end. Private to src/store.
///
/// Why: within a group most deliveries are added and brought to their last state at once. Gathered, such a delivery is
///   written once, and never enters the indexes of what waits only to leave them again.
/// Invariants: every line of a history and every event is as it would be without gathering; what is known here is newer
///   than the database until write(). Bounded: the writer calls write() when much has gathered.
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
    bool addressed = false;                  // the message is to the recipient itself, not to many
  };
  /// A delivery with the time of its message.
  Result<void> add(const records::AddDelivery& change, Parties parties, WallMs message_ts);
  /// The number of the recipient whose delivery became Delivered; 0: none did.
  Result<std::int64_t> change(const records::ChangeDelivery& change);
  /// False when it is not there, or over.
  Result<bool> requeue(const records::RequeueDelivery& change);

  /// Everything gathered becomes rows.
  Result<void> write();
  void clear();
  [[nodiscard]] std::size_t bytes() const { return entries_.size() * sizeof(Entry) + history_.bytes(); }

 private:
  enum class RowChange : std::uint8_t {
    AsStored,
    Changed,  // but waits for what it waited for: no index hears of it
    Moved,
    New,
  };
  struct Entry {
    records::Delivery delivery;  // names only where it is new
    Parties parties;
    std::int64_t entry_number = 0;  // of its newest line
    records::HistoryEntry newest = {};
    bool is_implicit = true;  // that line is the is_implicit beginning, which is not written
    RowChange row_change = RowChange::New;
  };
  /// Null when there is none.
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
  std::int64_t newest_stored_ = -1;  // the highest key of all that are stored; -1: not asked yet
};

}  // namespace relay::store
