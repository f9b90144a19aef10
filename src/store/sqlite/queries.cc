#include "store/sqlite/queries.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "base/format.h"
#include "records/query_errors.h"
#include "records/short_id.h"
#include "store/message_rows.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/schema.h"

namespace relay::store {

using namespace records;

Result<ReadTransaction> ReadTransaction::begin(SqliteConnection& connection) {
  if (connection.in_transaction()) return ReadTransaction{nullptr};
  RELAY_TRY(connection.execute("BEGIN"));
  return ReadTransaction{&connection};
}

Result<Key> newest_key(SqliteConnection& connection) {
  const auto find = RELAY_TRY(
      connection.use("SELECT max(coalesce((SELECT value FROM meta WHERE name='newest_key'),0),"
                     " coalesce((SELECT max(key) FROM messages),0), coalesce((SELECT max(key) FROM deliveries),0))"));
  return Key{RELAY_TRY(find->step()) ? find->integer(0) : 0};
}

Result<void> remember_newest_key(SqliteConnection& connection, Key key) {
  const auto remember =
      RELAY_TRY(connection.use("INSERT INTO meta(name,value) VALUES('newest_key',?1)"
                               " ON CONFLICT DO UPDATE SET value=max(value,excluded.value)"));
  remember->bind(key.value());
  return remember->run();
}

Result<std::int64_t> first_since(SqliteConnection& connection, const char* sql, WallMs time, std::int64_t low,
                                 std::int64_t high) {
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    const auto row = RELAY_TRY(connection.use(sql));
    row->bind(middle);
    if (!RELAY_TRY(row->step()) || row->integer(1) >= time)
      high = middle;
    else
      low = row->integer(0) + 1;
  }
  return low;
}

Result<std::int64_t> first_message_since(SqliteConnection& connection, WallMs time) {
  const auto oldest = RELAY_TRY(connection.integer("SELECT min(key) FROM messages"));
  const auto newest = RELAY_TRY(connection.integer("SELECT max(key) FROM messages"));
  return first_since(connection, "SELECT key, ts FROM messages WHERE key>=?1 ORDER BY key LIMIT 1", time, oldest,
                     newest + 1);
}

Result<std::vector<Key>> find_message_keys(SqliteConnection& connection, const std::string& id_or_prefix) {
  std::vector<Key> found;
  if (const auto delivery = key_of_delivery_id(id_or_prefix)) {
    const auto find = RELAY_TRY(connection.use("SELECT message FROM deliveries WHERE key=?1"));
    find->bind(delivery->value());
    if (RELAY_TRY(find->step())) found.emplace_back(find->integer(0));
    return found;
  }
  {
    const Key oldest{RELAY_TRY(connection.integer("SELECT coalesce(min(key),1) FROM messages"))};
    const auto newest = RELAY_TRY(newest_key(connection));
    const auto find = RELAY_TRY(connection.use("SELECT 1 FROM messages WHERE key=?1"));
    for (const auto key : keys_matching(id_or_prefix, {oldest, newest})) {
      find->bind(key.value());
      if (RELAY_TRY(find->step())) found.push_back(key);
      find->reset();
    }
  }
  if (!found.empty() || id_or_prefix.size() <= kShortIdLength) return found;
  // Senders' own ids have no index (they are random); only the newest messages are searched.
  const auto find = RELAY_TRY(connection.use(
      "SELECT key FROM (SELECT key,id FROM messages ORDER BY key DESC LIMIT ?2) WHERE id=?1 ORDER BY key"));
  find->bind(std::string_view{id_or_prefix}, static_cast<std::int64_t>(kRecentIdRows));
  while (RELAY_TRY(find->step())) found.emplace_back(find->integer(0));
  return found;
}

namespace {

Result<std::vector<HistoryEntry>> earlier_entries(SqliteConnection& connection, Key delivery) {
  std::vector<HistoryEntry> entries;
  const auto find =
      RELAY_TRY(connection.use("SELECT " RELAY_HISTORY_COLUMNS " FROM delivery_history WHERE delivery=?1 ORDER BY n"));
  find->bind(delivery.value());
  while (RELAY_TRY(find->step())) entries.push_back(read_history_entry(*find.operator->(), 0));
  return entries;
}

}  // namespace

Result<Trace> select_trace(SqliteConnection& connection, const std::string& id_or_prefix) {
  const auto transaction = RELAY_TRY(ReadTransaction::begin(connection));
  const auto keys = RELAY_TRY(find_message_keys(connection, id_or_prefix));
  if (keys.empty()) {
    return fail(QueryErrc::NotFound, format("no message has the id {}; `agent-relay log` lists them", id_or_prefix));
  }
  if (keys.size() > 1) {
    std::string ids;
    for (const auto key : std::span{keys}.first(std::min(keys.size(), kMaxAmbiguousIds))) ids += ' ' + short_id(key);
    return fail(QueryErrc::Ambiguous,
                format("{} messages have an id that starts with {}; use one of:{}", keys.size(), id_or_prefix, ids));
  }

  Trace trace;
  {
    const auto find = RELAY_TRY(
        connection.use("SELECT " RELAY_MESSAGE_COLUMNS " FROM messages m" RELAY_MESSAGE_NAMES "WHERE m.key=?1"));
    find->bind(keys.front().value());
    if (!RELAY_TRY(find->step())) return fail(QueryErrc::NotFound, format("no message has the id {}", id_or_prefix));
    trace.message = read_message(*find.operator->(), 0);
  }
  std::vector<std::int64_t> earlier;  // how many entries precede the newest
  {
    const auto find = RELAY_TRY(connection.use("SELECT " RELAY_DELIVERY_COLUMNS "," RELAY_NEWEST_ENTRY
                                               ",d.entry FROM deliveries d" RELAY_DELIVERY_NAMES
                                               "WHERE d.message=?1 ORDER BY d.key LIMIT ?2"));
    find->bind(keys.front().value(), static_cast<std::int64_t>(kMaxTraceDeliveries));
    while (RELAY_TRY(find->step())) {
      const auto& row = *find.operator->();
      trace.deliveries.push_back({read_delivery(row, 0), {read_newest_entry(row, kDeliveryColumns, trace.message.ts)}});
      earlier.push_back(row.integer(kDeliveryColumns + kEntryColumns));
    }
  }
  for (std::size_t at = 0; at < earlier.size(); ++at) {
    if (earlier[at] == 0) continue;
    auto& [delivery, history] = trace.deliveries[at];
    auto entries = RELAY_TRY(earlier_entries(connection, delivery.key));
    if (std::ssize(entries) < earlier[at]) entries.insert(entries.begin(), implicit_first_entry(trace.message.ts));
    history.insert(history.begin(), std::move_iterator{entries.begin()}, std::move_iterator{entries.end()});
  }
  return trace;
}

Result<StoreStats> select_stats(SqliteConnection& connection) {
  const auto transaction = RELAY_TRY(ReadTransaction::begin(connection));
  StoreStats stats;
  stats.driver = "sqlite";
  stats.persistent = true;
  stats.messages = static_cast<std::uint64_t>(RELAY_TRY(connection.integer("SELECT count(*) FROM messages")));
  {
    const auto pending = RELAY_TRY(connection.use(
        "SELECT count(*), min(key) FROM (SELECT key FROM deliveries INDEXED BY deliveries_waiting WHERE " RELAY_IN_LANE(
            "") " UNION ALL SELECT key FROM deliveries INDEXED BY deliveries_held WHERE " RELAY_HELD("") ")"));
    if (RELAY_TRY(pending->step())) stats.pending = static_cast<std::uint64_t>(pending->integer(0));
    const auto oldest = RELAY_TRY(
        connection.use("SELECT m.ts FROM deliveries d CROSS JOIN messages m ON m.key=d.message WHERE d.key=?1"));
    oldest->bind(pending->integer(1));
    if (RELAY_TRY(oldest->step())) stats.oldest_pending = oldest->integer(0);
  }
  stats.dead = static_cast<std::uint64_t>(RELAY_TRY(
      connection.integer("SELECT count(*) FROM deliveries INDEXED BY deliveries_dead WHERE " RELAY_DEAD(""))));
  const auto pages = RELAY_TRY(connection.integer("PRAGMA page_count"));
  stats.bytes = static_cast<std::uint64_t>(pages * RELAY_TRY(connection.integer("PRAGMA page_size")));
  return stats;
}

}  // namespace relay::store
