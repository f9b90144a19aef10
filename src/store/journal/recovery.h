/// The journal of a store that is being opened: what an earlier life left in it is applied before anybody asks anything.
#pragma once

#include <memory>

#include "base/clock.h"
#include "store/journal/journal.h"
#include "store/sqlite/store.h"

namespace relay::store {

/// The store has everything afterwards, as its durability says. `options` are those the store was opened with.
Result<std::unique_ptr<Journal>> recover_journal(SqliteStore& store, const SqliteOptions& options);

}  // namespace relay::store
