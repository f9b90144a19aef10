/// The event log in the database: numbering, reading in order, pruning. Private to src/store.
///
/// Invariants: numbers grow by one with each committed event, whatever is pruned; times never go back, so a time is
///   found by binary search. Threading: one thread per connection.
#pragma once

#include "records/events.h"
#include "records/queries.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/names.h"
#include "store/sqlite/row_batch.h"

namespace relay::store {

/// Numbers events inside the caller's transaction; they become rows when write() is called.
class EventWriter {
 public:
  EventWriter(SqliteConnection& connection, SqliteNames& names) : connection_{connection}, names_{names} {}

  Result<void> add(const records::EventRow& event);
  Result<void> add_message(const records::Message& message, std::int64_t sender);
  /// An entry of a delivery's history; the first one is 0.
  struct HistoryRef {
    Key delivery;
    std::int64_t number = 0;
    std::int64_t recipient = 0;
  };
  Result<void> add_entry(const HistoryRef& entry, const SessionId& session, records::DeliveryState state, WallMs at);
  Result<void> put(const records::UsageRow& usage);
  Result<void> count(const SessionId& session, const records::SessionStats& more, WallMs at);
  Result<records::EventSeq> newest();

  Result<void> write();
  [[nodiscard]] std::size_t bytes() const { return rows_.bytes(); }
  void on_rollback();

 private:
  Result<void> load_next();
  struct EventSlot {
    std::int64_t number = 0, at = 0, type = 0, session = 0;
  };
  Result<EventSlot> next_slot(std::string_view type, WallMs at, const SessionId& session);
  Result<std::int64_t> number_of(std::string_view name);

  SqliteConnection& connection_;
  SqliteNames& names_;
  struct Next {
    std::int64_t number = 0;
    WallMs at = 0;  // of the last one
  };
  std::optional<Next> next_;  // loaded at the first use
  RowBatch rows_;
};

Result<records::EventPage> select_events(SqliteConnection& connection, const records::EventQuery& query);
Result<std::vector<records::UsageSum>> select_usage(SqliteConnection& connection, const records::UsageQuery& query);
Result<records::SessionRow> select_session(SqliteConnection& connection, const SessionId& id);

/// Estimates the size of the log from its first and last rows.
Result<std::uint64_t> event_bytes(SqliteConnection& connection);

/// Removes at most `max_rows` events before a time; true while more remain. Inside the caller's transaction.
Result<bool> prune_events(SqliteConnection& connection, WallMs before, std::size_t max_rows);

}  // namespace relay::store
