/// Recovery at the opening of a store: applies the commits that an earlier process left in the journal.
#pragma once

#include <memory>

#include "base/clock.h"
#include "store/journal/journal.h"
#include "store/sqlite/store.h"

namespace relay::store {

/// Afterwards the store has every commit, with its full durability. `options` are those the store was opened with.
Result<std::unique_ptr<Journal>> recover_journal(SqliteStore& store, const SqliteOptions& options);

}  // namespace relay::store
