/// The tables of a workspace's database and the steps from one version of them to the next. Private to src/store.
///
/// Invariants: `user_version` is the number of steps applied; the missing ones and the new number are one transaction;
/// a step that was released is never edited, only followed. docs/spec/store.md describes the result.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "records/records.h"
#include "store/sqlite_handle.h"

namespace relay::store {

inline constexpr std::int64_t kApplicationId = 0x4152'4C59;  // "ARLY", in the file's header
inline constexpr int kSchemaVersion = 3;

/// Deliveries to which something may still happen, spelled exactly as in the partial indexes, or they go unused. Not
/// `IN (0,1,3)`: SQLite builds a temporary table for each row to decide that, at five times the cost of the insert.
#define RELAY_PENDING(table) table "state<4 AND " table "state<>2"
/// Of those, the ones that may go as soon as their lane is open, and the others.
#define RELAY_WAITING(table) RELAY_PENDING(table) " AND " table "hold=0"
#define RELAY_HELD(table) RELAY_PENDING(table) " AND " table "hold<>0"
#define RELAY_HELD_FOR_A_TIME(table) RELAY_PENDING(table) " AND " table "hold=1"
/// Deliveries that ended without being delivered, and were not cancelled.
#define RELAY_DEAD(table) table "state>3 AND " table "state<>6"
/// The text people read, as the full-text index holds it.
#define RELAY_BODY_OF(table) \
  "CASE WHEN json_valid(" table ".payload) THEN coalesce(json_extract(" table ".payload,'$.body'),'') ELSE '' END"

constexpr bool is_pending_number(int state) { return state < 4 && state != 2; }
static_assert([] {
  for (int state = 0; state <= static_cast<int>(records::DeliveryState::Dead); ++state) {
    if (is_pending_number(state) == is_final(static_cast<records::DeliveryState>(state))) return false;
  }
  return true;
}());
static_assert(static_cast<int>(records::DeliveryState::Cancelled) == 6 && static_cast<int>(records::Hold::None) == 0 &&
              static_cast<int>(records::Hold::Time) == 1);

/// Is this ours? An empty file is (it becomes ours); a file of another program is Damaged, a later version Newer.
Result<void> check_identity(Connection& connection);

/// Applies the steps that are missing, up to `version`.
Result<void> migrate(Connection& connection, int version = kSchemaVersion);

/// Drops and makes anew the full-text index, empty; indexing then starts from the first message.
Result<void> recreate_full_text(Connection& connection);

}  // namespace relay::store
