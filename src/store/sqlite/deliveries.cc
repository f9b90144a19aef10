// Queries of held deliveries and dead letters.
#include <algorithm>

#include "store/message_rows.h"
#include "store/sqlite/names.h"
#include "store/sqlite/queries.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/schema.h"

namespace relay::store {

using namespace records;

namespace {

HeldDelivery read_held(const CachedStatement& row) {
  return {read_delivery(*row.operator->(), 0), Topic{row->text(kDeliveryColumns)}};
}

Result<HeldPage> held_until(SqliteConnection& connection, WallMs due_by, std::size_t max_rows) {
  HeldPage page;
  const auto rows = RELAY_TRY(connection.use("SELECT " RELAY_DELIVERY_COLUMNS
                                             ",m.topic FROM deliveries d INDEXED BY deliveries_due CROSS JOIN messages "
                                             "m ON m.key=d.message" RELAY_DELIVERY_NAMES
                                             "WHERE " RELAY_HELD_FOR_A_TIME("d.") " ORDER BY d.available_at, d.key"));
  while (RELAY_TRY(rows->step())) {
    auto held = read_held(rows);
    const bool due = held.delivery.available_at <= due_by;
    if (!due || page.items.size() >= max_rows) {
      page.more = due;
      page.next_due = held.delivery.available_at;
      break;
    }
    page.items.push_back(std::move(held));
  }
  return page;
}

Result<HeldPage> held_of(SqliteConnection& connection, const HeldRequest& request, std::size_t max_rows) {
  HeldPage page;
  const auto recipient = RELAY_TRY(find_name(connection, request.to.value()));
  if (!recipient) return page;
  const auto mode = request.mode ? std::int64_t{protocol::lane_code({*request.mode}) / 2} : std::int64_t{-1};
  const auto read = [&](const CachedStatement& rows) -> Result<void> {
    while (RELAY_TRY(rows->step())) {
      page.more = page.items.size() >= max_rows;
      if (page.more) break;
      page.items.push_back(read_held(rows));
      if (request.ready) page.items.back().last_reason = rows->text(kDeliveryColumns + 1);
    }
    return {};
  };
  if (request.ready && request.mode) {
    const auto rows = RELAY_TRY(connection.use(
        "SELECT " RELAY_DELIVERY_COLUMNS
        ",m.topic,d.reason FROM deliveries d CROSS JOIN messages m ON m.key=d.message" RELAY_DELIVERY_NAMES
        "WHERE d.key>?2 AND d.key IN (SELECT key FROM deliveries INDEXED BY deliveries_waiting WHERE recipient=?1 AND "
        "lane IN (2*?3,2*?3+1) AND " RELAY_IN_LANE("") ") ORDER BY d.key LIMIT ?4"));
    rows->bind(*recipient, request.after.value(), mode, static_cast<std::int64_t>(max_rows) + 1);
    RELAY_TRY(read(rows));
    return page;
  }
  static_assert(protocol::kLanes == 10, "the statement below assumes that the manual lanes are the last two");
  const auto rows = RELAY_TRY(
      connection.use("SELECT " RELAY_DELIVERY_COLUMNS
                     ",m.topic FROM deliveries d CROSS JOIN messages m ON m.key=d.message" RELAY_DELIVERY_NAMES
                     "WHERE d.key>?2 AND (?3<0 OR d.lane/2=?3) AND d.key IN ("
                     "SELECT key FROM deliveries INDEXED BY deliveries_held WHERE recipient=?1 AND " RELAY_HELD(
                         "") " UNION ALL SELECT key FROM deliveries INDEXED BY deliveries_waiting WHERE recipient=?1 "
                             "AND lane>7 AND " RELAY_IN_LANE("") ") ORDER BY d.key LIMIT ?4"));
  rows->bind(*recipient, request.after.value(), mode, static_cast<std::int64_t>(max_rows) + 1);
  RELAY_TRY(read(rows));
  return page;
}

/// One bit for each state.
std::int64_t bits_of(const std::vector<DeliveryState>& states) {
  std::int64_t bits = 0;
  for (const auto state : states) bits |= std::int64_t{1} << static_cast<int>(state);
  return states.empty() ? -1 : bits;
}

DeliveryRow read_delivery_row(const CachedStatement& row) {
  const auto& columns = *row.operator->();
  auto message = read_message(columns, kDeliveryColumns);
  auto last = read_newest_entry(columns, kDeliveryColumns + kMessageColumns, message.ts);
  return {read_delivery(columns, 0), std::move(message), std::move(last)};
}

}  // namespace

Result<HeldPage> select_held(SqliteConnection& connection, const HeldRequest& request) {
  const auto transaction = RELAY_TRY(ReadTransaction::begin(connection));
  const auto max_rows = std::max<std::size_t>(request.max_rows, 1);
  if (request.to.value().empty()) return held_until(connection, request.due_by, max_rows);
  return held_of(connection, request, max_rows);
}

#define RELAY_DELIVERIES_WITH_MESSAGE(deliveries)                                                       \
  "SELECT " RELAY_DELIVERY_COLUMNS "," RELAY_MESSAGE_COLUMNS "," RELAY_NEWEST_ENTRY " FROM " deliveries \
  " CROSS JOIN messages m ON m.key=d.message" RELAY_MESSAGE_NAMES RELAY_DELIVERY_NAMES "WHERE "
#define RELAY_DEAD_LETTERS(index)                                 \
  RELAY_DELIVERIES_WITH_MESSAGE("deliveries d INDEXED BY " index) \
  RELAY_DEAD("d.") " AND d.key<?1 AND d.key>?4 AND (?2=0 OR d.sender=?2) AND (?3>>d.state)&1"
#define RELAY_DEAD_LETTERS_OF(order) RELAY_DEAD_LETTERS("deliveries_dead_of") " AND d.recipient=?5 ORDER BY d.key" order
#define RELAY_ALL_DEAD_LETTERS(order) RELAY_DEAD_LETTERS("deliveries_dead") " ORDER BY d.key" order

/// `use` takes literals: it keeps each statement prepared.
Result<CachedStatement> use_dead(SqliteConnection& connection, bool of_one, bool oldest_first) {
  if (of_one && oldest_first) return connection.use(RELAY_DEAD_LETTERS_OF(""));
  if (of_one) return connection.use(RELAY_DEAD_LETTERS_OF(" DESC"));
  if (oldest_first) return connection.use(RELAY_ALL_DEAD_LETTERS(""));
  return connection.use(RELAY_ALL_DEAD_LETTERS(" DESC"));
}

Result<std::vector<DeliveryRow>> select_deliveries(SqliteConnection& connection, const DeliveryQuery& query) {
  const auto transaction = RELAY_TRY(ReadTransaction::begin(connection));
  std::vector<DeliveryRow> dead_letters;
  std::size_t bytes = 0;
  const auto take = [&](const CachedStatement& row) {
    dead_letters.push_back(read_delivery_row(row));
    bytes += size_of(dead_letters.back().message);
  };
  for (const Key key : query.deliveries) {
    if (bytes >= kMaxResultBytes) break;
    const auto row = RELAY_TRY(connection.use(RELAY_DELIVERIES_WITH_MESSAGE("deliveries d") "d.key=?1"));
    row->bind(key.value());
    if (RELAY_TRY(row->step())) take(row);
  }
  if (!query.deliveries.empty()) return dead_letters;
  std::int64_t sender = 0, recipient = 0;
  for (const auto& [name, number] : {std::pair{&query.from, &sender}, std::pair{&query.to, &recipient}}) {
    if (name->empty()) continue;
    const auto found = RELAY_TRY(find_name(connection, *name));
    if (!found) return std::vector<DeliveryRow>{};
    *number = *found;
  }
  const auto rows = RELAY_TRY(use_dead(connection, recipient > 0, query.oldest_first));
  rows->bind(query.before.value() > 0 ? query.before.value() : INT64_MAX, sender, bits_of(query.states),
             query.after.value());
  if (recipient > 0) rows->bind_at(5, recipient);
  while (dead_letters.size() < query.limit && bytes < kMaxResultBytes && RELAY_TRY(rows->step())) take(rows);
  return dead_letters;
}

}  // namespace relay::store
