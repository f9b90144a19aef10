/// The rows of a damaged database that can still be read, table by table, into a new one. Private to src/store.
///
/// A page that is damaged costs the rows it holds. Rows are numbered without holes of our own (a key is a message or a
///   delivery), so the ranges of keys that could not be read say how many rows are missing at most.
/// Threading: one thread; the files are nobody else's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/sqlite/connection.h"

namespace relay::store {

/// Keys between these two could not be read.
struct KeyRange {
  std::int64_t after = 0, before = 0;
};

struct SalvageResult {
  std::vector<KeyRange> missing;        // of messages and deliveries
  std::uint64_t rows = 0;               // that were recovered
  std::uint64_t without_recipient = 0;  // pending deliveries whose recipient's name is lost
};

/// Copies what can be read from the database at `damaged` (with its log beside it), which is left as it is.
Result<SalvageResult> salvage(const std::string& damaged, const std::string& vfs, SqliteConnection& into);

/// Removes rows that belong to rows which are gone; then counts the messages that are missing, at most `known` (0: unknown).
Result<std::uint64_t> count_missing(SqliteConnection& connection, const SalvageResult& salvaged, std::uint64_t known);

}  // namespace relay::store
