#include "store/sqlite/text.h"

#include "store/sqlite/schema.h"

namespace relay::store {

Result<std::int64_t> indexed_key(SqliteConnection& connection) {
  const auto find = RELAY_TRY(connection.use("SELECT value FROM meta WHERE name='indexed_key'"));
  return RELAY_TRY(find->step()) ? find->integer(0) : 0;
}

Result<bool> index_next(SqliteConnection& connection, std::size_t max_rows) {
  const auto from = RELAY_TRY(indexed_key(connection));
  std::int64_t up_to = 0;
  std::size_t rows = 0;
  {
    const auto range = RELAY_TRY(
        connection.use("SELECT count(*), max(key) FROM (SELECT key FROM messages WHERE key>?1 ORDER BY key LIMIT ?2)"));
    range->bind(from, static_cast<std::int64_t>(max_rows));
    if (!RELAY_TRY(range->step()) || range->integer(0) == 0) return false;
    rows = static_cast<std::size_t>(range->integer(0));
    up_to = range->integer(1);
  }
  const auto add = RELAY_TRY(connection.use("INSERT INTO message_text(rowid,body) SELECT m.key, " RELAY_BODY_OF(
      "m") " FROM messages m WHERE m.key>?1 AND m.key<=?2 ORDER BY m.key"));
  add->bind(from, up_to);
  RELAY_TRY(add->run());
  const auto remember = RELAY_TRY(connection.use(
      "INSERT INTO meta(name,value) VALUES('indexed_key',?1) ON CONFLICT DO UPDATE SET value=excluded.value"));
  remember->bind(up_to);
  RELAY_TRY(remember->run());
  return rows == max_rows;
}

}  // namespace relay::store
