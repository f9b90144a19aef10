/// Deletes messages together with all that hangs on them. Private to src/store.
///
/// Invariants: a message that any delivery still needs stays; the highest key ever used is remembered first, so keys
/// keep growing even when the newest rows are gone; the full-text index is kept in step.
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

  /// How many rows went: 0 when the message is still needed.
  Result<std::size_t> remove_unless_pending(std::int64_t message);

 private:
  MessageRemover(SqliteConnection& connection, std::int64_t indexed) : connection_{connection}, indexed_{indexed} {}

  SqliteConnection& connection_;
  std::int64_t indexed_;  // messages up to this key are in the full-text index
};

}  // namespace relay::store
