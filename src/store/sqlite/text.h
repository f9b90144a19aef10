/// The full-text index: filled after the messages, in steps. Private to src/store.
///
/// It holds words, no copy of any text. It is derived from the messages, so a broken index is rebuilt from them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "store/sqlite/connection.h"

namespace relay::store {

/// Messages up to this key are indexed.
Result<std::int64_t> indexed_key(SqliteConnection& connection);

/// Indexes the next messages inside the caller's transaction; true while more remain.
Result<bool> index_next(SqliteConnection& connection, std::size_t max_rows);

}  // namespace relay::store
