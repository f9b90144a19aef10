/// Queries of users and clients, on any connection: the writer's or a reader's. Private to src/store.
///
/// Each result comes from one read transaction. No query scans the history: every filter has an index, and times are
/// translated to keys.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "records/queries.h"
#include "store/message_store.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/events.h"

namespace relay::store {

Result<std::vector<records::MessageRow>> select_messages(SqliteConnection& connection,
                                                         const records::MessageQuery& query);
Result<records::Trace> select_trace(SqliteConnection& connection, const std::string& id_or_prefix);
Result<records::StoreStats> select_stats(SqliteConnection& connection);
Result<records::HeldPage> select_held(SqliteConnection& connection, const records::HeldRequest& request);
Result<std::vector<records::DeliveryRow>> select_deliveries(SqliteConnection& connection,
                                                            const records::DeliveryQuery& query);

/// Messages that an id may mean: a short id, a prefix of one, a delivery's id, or the sender's own id if recent.
Result<std::vector<Key>> find_message_keys(SqliteConnection& connection, const std::string& id_or_prefix);

/// The highest key ever used.
Result<Key> newest_key(SqliteConnection& connection);
/// Records a key that no row has, or that a removal is about to take away. Inside the caller's transaction.
Result<void> remember_newest_key(SqliteConnection& connection, Key key);

/// Binary search: the first number in [low, high) whose row is not before a time; `high` when there is none. `sql`
/// selects the number and the time of the first row from a number on.
Result<std::int64_t> first_since(SqliteConnection& connection, const char* sql, WallMs time, std::int64_t low,
                                 std::int64_t high);
/// The first message not before a time; newest + 1 when there is none. If the clock was set back, some earlier messages
/// may be later than that time too, but by no more than the clock was set back.
Result<std::int64_t> first_message_since(SqliteConnection& connection, WallMs time);

/// A read transaction for a scope; no effect when the connection is in a transaction already.
class ReadTransaction {
 public:
  static Result<ReadTransaction> begin(SqliteConnection& connection);
  ReadTransaction(ReadTransaction&& other) noexcept : connection_{std::exchange(other.connection_, nullptr)} {}
  ReadTransaction& operator=(ReadTransaction&&) = delete;
  ~ReadTransaction() {
    if (connection_ != nullptr) connection_->rollback();
  }

 private:
  explicit ReadTransaction(SqliteConnection* connection) : connection_{connection} {}
  SqliteConnection* connection_;
};

/// A reader for another thread.
class SqliteReader final : public MessageReader {
 public:
  explicit SqliteReader(std::unique_ptr<SqliteConnection> connection) : connection_{std::move(connection)} {}

  Result<std::vector<records::MessageRow>> messages(const records::MessageQuery& query) override {
    return select_messages(*connection_, query);
  }
  Result<records::Trace> trace(const std::string& id_or_prefix) override {
    return select_trace(*connection_, id_or_prefix);
  }
  Result<records::StoreStats> stats() override { return select_stats(*connection_); }
  Result<records::HeldPage> held(const records::HeldRequest& request) override {
    return select_held(*connection_, request);
  }
  Result<std::vector<records::DeliveryRow>> deliveries(const records::DeliveryQuery& query) override {
    return select_deliveries(*connection_, query);
  }
  Result<records::EventPage> events(const records::EventQuery& query) override {
    return select_events(*connection_, query);
  }
  Result<std::vector<records::UsageSum>> usage(const records::UsageQuery& query) override {
    return select_usage(*connection_, query);
  }
  Result<records::SessionRow> session(const SessionId& id) override { return select_session(*connection_, id); }

 private:
  std::unique_ptr<SqliteConnection> connection_;
};

}  // namespace relay::store
