#include "store/sqlite/store_identity.h"

#include <optional>

namespace relay::store {
namespace {

Result<std::optional<std::string>> read_meta(SqliteConnection& connection, std::string_view name) {
  auto row = RELAY_TRY(connection.prepare("SELECT value FROM meta WHERE name=?1"));
  row.bind(name);
  if (!RELAY_TRY(row.step())) return std::optional<std::string>{};
  return std::optional{std::string{row.text(0)}};
}

Result<void> write_first_key(SqliteConnection& connection, std::int64_t key) {
  auto row = RELAY_TRY(connection.prepare("INSERT OR IGNORE INTO meta(name,value) VALUES('newest_key',?1)"));
  row.bind(key);
  RELAY_TRY(row.step());
  return {};
}

Result<void> write_boot(SqliteConnection& connection, std::string_view boot) {
  auto row = RELAY_TRY(connection.prepare("INSERT OR REPLACE INTO meta(name,value) VALUES('boot',?1)"));
  row.bind(boot);
  RELAY_TRY(row.step());
  return {};
}

}  // namespace

Result<std::string> identify_store(SqliteConnection& connection, const SqliteOptions& options) {
  const auto id = RELAY_TRY(read_meta(connection, "store_id"));
  const auto boot = RELAY_TRY(read_meta(connection, "boot")).value_or("");
  const std::string now = options.durability == Durability::Process ? options.boot_id : std::string{};
  const bool may_have_lost = !boot.empty() && boot != options.boot_id;
  if (id && !may_have_lost && boot == now) return *id;  // writes nothing: a store on a full disk must still open
  if (!id || may_have_lost) {
    RELAY_TRY(
        connection.execute("INSERT OR REPLACE INTO meta(name,value) VALUES('store_id',lower(hex(randomblob(8))))"));
  }
  if (!id && options.first_key > 0) RELAY_TRY(write_first_key(connection, options.first_key));
  RELAY_TRY(write_boot(connection, now));
  return RELAY_TRY(read_meta(connection, "store_id")).value_or("");
}

Result<JournalPosition> read_journal_position(SqliteConnection& connection, const SqliteOptions& options) {
  const auto boot = RELAY_TRY(read_meta(connection, "boot")).value_or("");
  RELAY_TRY(connection.execute("INSERT OR IGNORE INTO meta(name,value) VALUES('journal',random())"));
  const bool is_new = connection.rows_changed() > 0;
  const auto number = [&](const char* sql) -> Result<std::uint64_t> {
    return static_cast<std::uint64_t>(RELAY_TRY(connection.integer(sql)));
  };
  return JournalPosition{
      .id = RELAY_TRY(number("SELECT value FROM meta WHERE name='journal'")),
      .applied = {.commits = RELAY_TRY(number("SELECT value FROM meta WHERE name='journal_applied'")),
                  .messages = RELAY_TRY(number("SELECT value FROM meta WHERE name='journal_messages'"))},
      .power_lost = !boot.empty() && boot != options.boot_id,
      .is_new = is_new};
}

Result<void> store_journal_position(SqliteConnection& connection, JournalReach applied, CommitDurability durability) {
  if (durability == CommitDurability::Full) {
    // Some versions of SQLite do not write an unchanged value, and a commit without pages does not sync.
    const auto statement =
        RELAY_TRY(connection.use("INSERT OR REPLACE INTO meta(name,value) VALUES('journal_kept',random())"));
    RELAY_TRY(statement->run());
  }
  const auto put = RELAY_TRY(
      connection.use("INSERT OR REPLACE INTO meta(name,value) VALUES('journal_applied',?1),('journal_messages',?2)"));
  put->bind(static_cast<std::int64_t>(applied.commits), static_cast<std::int64_t>(applied.messages));
  return put->run();
}

Result<void> adopt_journal(SqliteConnection& connection, std::uint64_t id) {
  auto put = RELAY_TRY(connection.prepare("INSERT OR REPLACE INTO meta(name,value) VALUES('journal',?1)"));
  put.bind(static_cast<std::int64_t>(id));
  return put.run();
}

}  // namespace relay::store
