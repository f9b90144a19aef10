/// The identity of a store: a random name, sent to clients, that their stream positions belong to.
///
/// Invariant: numbers assigned under one name never go back. A new store has a new name; a store in mode Process gets a
///   new one after the machine went down, because its last commits may be lost.
#pragma once

#include <string>

#include "base/result.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/store.h"

namespace relay::store {

/// The name, created or renewed if necessary. The connection must sync its commits.
Result<std::string> identify_store(SqliteConnection& connection, const SqliteOptions& options);

/// The id of the store's journal, and the store's position in it.
Result<JournalPosition> read_journal_position(SqliteConnection& connection, const SqliteOptions& options);
Result<void> store_journal_position(SqliteConnection& connection, JournalReach applied, CommitDurability durability);
Result<void> adopt_journal(SqliteConnection& connection, std::uint64_t id);

}  // namespace relay::store
