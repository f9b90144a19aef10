#include "store/sqlite_queries.h"

#include <algorithm>
#include <span>

#include "base/format.h"
#include "records/short_id.h"
#include "store/message_rows.h"
#include "store/sqlite_rows.h"
#include "store/sqlite_schema.h"

namespace relay::store {

using namespace records;

Result<ReadMoment> ReadMoment::begin(Connection& connection) {
  if (connection.in_transaction()) return ReadMoment{nullptr};
  RELAY_TRY(connection.execute("BEGIN"));
  return ReadMoment{&connection};
}

Result<Key> newest_key(Connection& connection) {
  const auto find = RELAY_TRY(
      connection.use("SELECT max(coalesce((SELECT value FROM meta WHERE name='newest_key'),0),"
                     " coalesce((SELECT max(key) FROM messages),0), coalesce((SELECT max(key) FROM deliveries),0))"));
  return Key{RELAY_TRY(find->step()) ? find->integer(0) : 0};
}

Result<std::vector<Key>> messages_named(Connection& connection, const std::string& id_or_prefix) {
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
  if (!found.empty() || id_or_prefix.size() <= kShortIdLetters) return found;
  // Senders' own ids have no index (they are random); the newest are few enough to look through.
  const auto find = RELAY_TRY(connection.use(
      "SELECT key FROM (SELECT key,id FROM messages ORDER BY key DESC LIMIT ?2) WHERE id=?1 ORDER BY key"));
  find->bind(std::string_view{id_or_prefix}, static_cast<std::int64_t>(kRecentIdRows));
  while (RELAY_TRY(find->step())) found.emplace_back(find->integer(0));
  return found;
}

Result<Trace> select_trace(Connection& connection, const std::string& id_or_prefix) {
  const auto moment = RELAY_TRY(ReadMoment::begin(connection));
  const auto keys = RELAY_TRY(messages_named(connection, id_or_prefix));
  if (keys.empty()) {
    return fail(Errc::NotFound, format("no message has the id {}; `agent-relay log` lists them", id_or_prefix));
  }
  if (keys.size() > 1) {
    std::string ids;
    for (const auto key : std::span{keys}.first(std::min(keys.size(), kMaxAmbiguousIds))) ids += ' ' + short_id(key);
    return fail(Errc::Ambiguous,
                format("{} messages have an id that begins with {}; say one of:{}", keys.size(), id_or_prefix, ids));
  }

  Trace trace;
  {
    const auto find = RELAY_TRY(
        connection.use("SELECT " RELAY_MESSAGE_COLUMNS " FROM messages m" RELAY_MESSAGE_NAMES "WHERE m.key=?1"));
    find->bind(keys.front().value());
    if (!RELAY_TRY(find->step())) return fail(Errc::NotFound, format("no message has the id {}", id_or_prefix));
    trace.message = read_message(*find.operator->(), 0);
  }
  {
    const auto find = RELAY_TRY(connection.use("SELECT n.name," RELAY_DELIVERY_COLUMNS
                                               " FROM deliveries d JOIN names n ON n.id=d.recipient WHERE d.message=?1"
                                               " ORDER BY d.key LIMIT ?2"));
    find->bind(keys.front().value(), static_cast<std::int64_t>(kMaxTraceDeliveries));
    while (RELAY_TRY(find->step())) {
      trace.deliveries.push_back({read_delivery(*find.operator->(), 1, AgentName{find->text(0)}), {}});
    }
  }
  const auto find =
      RELAY_TRY(connection.use("SELECT n,at,state,proof,reason FROM delivery_history WHERE delivery=?1 ORDER BY n"));
  for (auto& entry : trace.deliveries) {
    find->bind(entry.delivery.key.value());
    while (RELAY_TRY(find->step())) {
      const bool begins = find->integer(0) == 0;
      if (!begins && entry.history.empty())
        entry.history.push_back({trace.message.ts, DeliveryState::Queued, Proof::Stored, {}});
      entry.history.push_back(
          {find->integer(1), read_state(find->integer(2)), read_proof(find->integer(3)), find->text(4)});
    }
    find->reset();
    if (entry.history.empty()) entry.history.push_back({trace.message.ts, DeliveryState::Queued, Proof::Stored, {}});
  }
  return trace;
}

Result<StoreStats> select_stats(Connection& connection) {
  const auto moment = RELAY_TRY(ReadMoment::begin(connection));
  StoreStats stats;
  stats.driver = "sqlite";
  stats.persistent = true;
  stats.messages = static_cast<std::uint64_t>(RELAY_TRY(connection.integer("SELECT count(*) FROM messages")));
  stats.pending = static_cast<std::uint64_t>(RELAY_TRY(
      connection.integer("SELECT count(*) FROM deliveries INDEXED BY deliveries_pending WHERE " RELAY_PENDING(""))));
  const auto pages = RELAY_TRY(connection.integer("PRAGMA page_count"));
  stats.bytes = static_cast<std::uint64_t>(pages * RELAY_TRY(connection.integer("PRAGMA page_size")));
  return stats;
}

}  // namespace relay::store
