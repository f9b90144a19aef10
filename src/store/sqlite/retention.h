/// Retention in small steps. Private to src/store.
///
/// A round goes through its phases once: rows past their age, then the oldest rows while the file is too large, then
/// sessions, usage and other tables, then events, then the file itself shrinks. Each step examines a bounded number of
/// rows, so a commit waits for at most one step; the position is kept between steps, so rows that must stay are
/// examined once.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "store/message_store.h"
#include "store/sqlite/connection.h"

namespace relay::store {

class SqliteRetention {
 public:
  /// Inside the caller's transaction; true while the round has more to do.
  Result<bool> step(SqliteConnection& connection, const Retention& retention, WallMs now, std::size_t max_rows);
  /// The step was rolled back: the round starts again.
  void on_rollback() { *this = {}; }

 private:
  enum class Phase { Age, Size, Related, Events, Shrink };

  Result<void> remove_by_age(SqliteConnection& connection, WallMs older_than, std::size_t max_rows);
  Result<void> remove_by_size(SqliteConnection& connection, std::uint64_t max_bytes, std::size_t max_rows);
  Result<void> remove_related(SqliteConnection& connection, const Retention& retention, WallMs now,
                              std::size_t max_rows);
  Result<void> shrink(SqliteConnection& connection);

  Phase phase_ = Phase::Age;
  std::int64_t scanned_key_ = 0;
  bool phase_done_ = false;
};

}  // namespace relay::store
