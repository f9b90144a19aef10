/// Turns the configuration into the limits and the store of a workspace.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/directory.h"
#include "config/paths.h"
#include "config/settings.h"
#include "daemon/workspace.h"
#include "store/damage.h"
#include "store/journal/journal.h"
#include "store/sqlite/store.h"

namespace relay::daemon {

store::Retention retention_of(const config::Settings& settings);
WorkspaceOptions workspace_options(const config::Settings& settings, const std::string& version);

struct OpenedStore {
  std::unique_ptr<DirectoryLock> lock;  // on the database; none for the memory store
  std::unique_ptr<store::MessageStore> store;
  std::unique_ptr<store::Journal> journal;  // before the store; none for the memory store
  store::Durability durability = store::Durability::Power;
  std::string path;                   // of the database; empty for the memory store
  store::Damage damage;               // found at the opening
  std::uint64_t refused_changes = 0;  // by the store, in this opening or an earlier one
};
/// Adds the event of damage found at an opening to the recovered store.
Result<void> record_damage(store::MessageStore& store, const store::Damage& damage, WallMs now);
Result<OpenedStore> open_store(const config::Settings& settings, const config::Project& project, WallMs now);

}  // namespace relay::daemon
