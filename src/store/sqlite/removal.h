/// Removes messages with their deliveries and history. Private to src/store.
///
/// Invariants: a message with a pending delivery stays; the highest key ever used is recorded first, so keys keep
///   growing even when the newest rows are removed; the full-text index is updated too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "store/sqlite/connection.h"

namespace relay::store {

class MessageRemover {
 public:
  /// Inside the caller's transaction.
  static Result<MessageRemover> prepare(SqliteConnection& connection);

  /// Returns the number of rows removed: 0 when a delivery of the message is pending.
  Result<std::size_t> remove_unless_pending(std::int64_t message);

 private:
  MessageRemover(SqliteConnection& connection, std::int64_t indexed) : connection_{connection}, indexed_{indexed} {}

  SqliteConnection& connection_;
  std::int64_t indexed_;  // messages up to this key are in the full-text index
};

}  // namespace relay::store
