/// Which store this is: a random name, told to clients, that their stream positions belong to.
///
/// Invariant: numbers given out under one name never go back. A store that is begun anew has a new name; so has one in
/// Process mode after the machine itself went down, because its last commits may be gone.
#pragma once

#include <string>

#include "base/result.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/store.h"

namespace relay::store {

/// The name, made or renewed if need be. The connection syncs what it commits.
Result<std::string> identify_store(SqliteConnection& connection, const SqliteOptions& options);

/// With which journal the store goes, and how far it has come in it.
Result<JournalPosition> read_journal_position(SqliteConnection& connection, const SqliteOptions& options);
Result<void> store_journal_position(SqliteConnection& connection, JournalReach applied, CommitDurability durability);
Result<void> adopt_journal(SqliteConnection& connection, std::uint64_t id);

}  // namespace relay::store
