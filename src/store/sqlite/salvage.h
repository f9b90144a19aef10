/// Copies the readable rows of a damaged database, table by table, into a new one. Private to src/store.
///
/// A damaged page loses the rows it holds. Keys have no gaps (a key is a message or a delivery), so the ranges of keys
///   that could not be read give an upper bound of the missing rows.
/// Threading: one thread; nothing else uses the files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/sqlite/connection.h"

namespace relay::store {

/// Rows with keys between these two could not be read.
struct UnreadKeys {
  std::int64_t after = 0, before = 0;
};

struct SalvageResult {
  std::vector<UnreadKeys> missing;      // of messages and deliveries
  std::uint64_t rows = 0;               // that were recovered
  std::uint64_t without_recipient = 0;  // pending deliveries whose recipient's name is lost
};

/// Copies the readable rows of the database at `damaged` (with its log beside it), which stays as it is.
Result<SalvageResult> salvage(const std::string& damaged, const std::string& vfs, SqliteConnection& into);

/// Removes rows whose parent row is lost; then counts the missing messages, at most `expected` (0: unknown).
Result<std::uint64_t> count_missing(SqliteConnection& connection, const SalvageResult& salvaged,
                                    std::uint64_t expected);

}  // namespace relay::store
