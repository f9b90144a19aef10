/// Reads the state of the broker: everything once after a start, then backlogs page by page. Private to src/store.
#pragma once

#include "base/result.h"
#include "records/queries.h"
#include "store/sqlite/connection.h"

namespace relay::store {

Result<records::WorkspaceState> load_state(SqliteConnection& connection);
Result<records::BacklogPage> load_backlog(SqliteConnection& connection, const records::BacklogRequest& request);

}  // namespace relay::store
