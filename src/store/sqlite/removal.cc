#include "store/sqlite/removal.h"

#include <vector>

#include "store/sqlite/queries.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/text.h"

namespace relay::store {

Result<MessageRemover> MessageRemover::prepare(SqliteConnection& connection) {
  const auto newest = RELAY_TRY(newest_key(connection));
  RELAY_TRY(remember_newest_key(connection, newest));
  return MessageRemover{connection, RELAY_TRY(indexed_key(connection))};
}

Result<std::size_t> MessageRemover::remove_unless_pending(std::int64_t message) {
  {
    const auto needed =
        RELAY_TRY(connection_.use("SELECT 1 FROM deliveries WHERE message=?1 AND " RELAY_PENDING("") " LIMIT 1"));
    needed->bind(message);
    if (RELAY_TRY(needed->step())) return std::size_t{0};
  }
  if (message <= indexed_) {
    const auto forget = RELAY_TRY(
        connection_.use("INSERT INTO message_text(message_text,rowid,body) SELECT 'delete', m.key, " RELAY_BODY_OF(
            "m") " FROM messages m WHERE m.key=?1"));
    forget->bind(message);
    RELAY_TRY(forget->run());
  }
  std::size_t rows = 1;
  {
    const auto count = RELAY_TRY(connection_.use("SELECT count(*) FROM deliveries WHERE message=?1"));
    count->bind(message);
    if (RELAY_TRY(count->step())) rows += static_cast<std::size_t>(count->integer(0));
  }
  for (const char* sql :
       {"DELETE FROM delivery_history WHERE delivery IN (SELECT key FROM deliveries WHERE message=?1)",
        "DELETE FROM deliveries WHERE message=?1", "DELETE FROM messages WHERE key=?1"}) {
    const auto remove = RELAY_TRY(connection_.use(sql));
    remove->bind(message);
    RELAY_TRY(remove->run());
  }
  return rows;
}

}  // namespace relay::store
