#include "daemon/workspace_settings.h"

#include <filesystem>

#include "base/directory.h"
#include "base/format.h"
#include "base/json.h"
#include "base/random.h"
#include "daemon/event_file.h"
#include "daemon/system_usage.h"
#include "events/event.h"
#include "store/journal/recovery.h"
#include "store/memory/store.h"
#include "store/sqlite/store.h"

namespace relay::daemon {
namespace {

constexpr std::int64_t kDayMs = 24LL * 3600 * 1000;

store::Durability durability_of(const config::Settings& settings) {
  switch (settings.durability()) {
    case config::Durability::Power: return store::Durability::Power;
    case config::Durability::Process: return store::Durability::Process;
  }
  return store::Durability::Power;
}

/// Random, so that an id used in the wrong project finds no message of that project. Half of the ids of eight characters
/// stay free above it.
std::int64_t random_first_key() {
  constexpr std::uint64_t kBound = std::uint64_t{1} << 39;
  return static_cast<std::int64_t>(SystemRandom{}.below(kBound));
}

/// Written by a workspace with its messages in memory: the event log beside it belongs to no store.
constexpr auto kMemoryMark = "events-of-memory";

/// The damage of a store that is missing while the event log of an earlier one exists, without its journal.
store::Damage find_missing_store(const std::string& path, const std::string& directory) {
  std::error_code ignored;
  const bool exists = std::filesystem::exists(path, ignored);
  const bool has_content = exists && std::filesystem::file_size(path, ignored) > 0;
  if (has_content || store::Journal::store_beside(path, {})) return {};
  const auto messages = messages_in_event_files(directory);
  if (messages == 0) return {};
  return {.findings = {format("the message store {} is {}; a new one was started beside the event log in {}", path,
                              exists ? "empty" : "missing", directory)},
          .lost_messages = messages,
          .more_lost = true,  // the event log is written behind the store
          .counted = true,
          .refused = 0,
          .files = {}};
}

}  // namespace

Result<void> record_damage(store::MessageStore& store, const store::Damage& damage, WallMs now) {
  const events::RelayDamaged event{.reason = damage.message(),
                                   .lost_messages = static_cast<std::int64_t>(damage.lost_messages),
                                   .files = damage.files};
  RELAY_TRY(store.begin());
  RELAY_TRY(store.apply(records::AddEvent{{.type = std::string{events::type_of(event)},
                                           .at = now,
                                           .agent = {},
                                           .session = {},
                                           .body = json::serialize(events::members_of(event))}}));
  return store.commit();
}

store::Retention retention_of(const config::Settings& settings) {
  return {.max_age_ms = settings.retention_max_age_days() * kDayMs,
          .max_bytes = static_cast<std::uint64_t>(settings.retention_max_bytes()),
          .max_event_age_ms = settings.retention_events_days() * kDayMs};
}

WorkspaceOptions workspace_options(const config::Settings& settings, const std::string& version) {
  WorkspaceOptions options;
  options.limits.heartbeat_ms = settings.heartbeat_ms();
  options.limits.session_grace_ms = settings.session_grace_ms();
  options.limits.default_ttl_ms = settings.default_ttl_days() * kDayMs;
  options.limits.max_backlog = static_cast<std::uint64_t>(settings.max_backlog());
  options.limits.rate_per_second = static_cast<double>(settings.rate_per_second());
  options.limits.break_loops = settings.break_loops();
  options.limits.explain = settings.debug();
  options.limits.rate_burst = static_cast<double>(settings.rate_burst());
  const bool durable = settings.storage_type() == config::StorageType::Sqlite;
  options.info = {.version = version,
                  .storage_driver = durable ? "sqlite" : "memory",
                  .persistent = durable,
                  .durability = durable ? settings.text(config::Setting::Durability) : "",
                  .process_usage = usage_of_process,
                  .machine_usage = usage_of_machine};
  options.retention = retention_of(settings);
  return options;
}

Result<OpenedStore> open_store(const config::Settings& settings, const config::Project& project, WallMs now) {
  OpenedStore opened;
  switch (settings.storage_type()) {
    case config::StorageType::Memory:
      opened.store = std::make_unique<store::MemoryStore>(SystemRandom{}.hex(8), random_first_key());
      if (const auto directory = DiskDirectory::open(project.directory)) (void)(*directory)->create(kMemoryMark);
      break;
    case config::StorageType::Sqlite: {
      opened.path = config::database_path(settings, project);
      opened.durability = durability_of(settings);
      auto lock = lock_file(opened.path + "-lock");
      if (!lock && is(lock.error(), LockErrc::Held))
        return fail(
            format("the message store {} is in use by another workspace; give each its own storage.path", opened.path));
      opened.lock = RELAY_TRY(std::move(lock));
      const store::SqliteOptions options{.path = opened.path,
                                         .durability = opened.durability,
                                         .now = now,
                                         .first_key = random_first_key(),
                                         .boot_id = boot_id()};
      if (std::error_code ignored;
          !std::filesystem::remove(std::filesystem::path{project.directory} / kMemoryMark, ignored))
        opened.damage = find_missing_store(opened.path, project.directory);
      auto sqlite = RELAY_TRY(store::SqliteStore::open(options));
      opened.journal = RELAY_TRY(store::recover_journal(*sqlite, options));
      opened.damage.add(sqlite->damage());
      opened.damage.add(opened.journal->damage());
      if (opened.damage.found()) RELAY_TRY(record_damage(*sqlite, opened.damage, now));
      opened.refused_changes = sqlite->refused();
      opened.store = std::move(sqlite);
      break;
    }
  }
  return opened;
}

}  // namespace relay::daemon
