/// The tables of a workspace's database and the migration steps between versions. Private to src/store.
///
/// Invariants: `user_version` is the number of steps applied; the missing steps and the new number are one transaction;
///   a released step is never edited, only followed by another. docs/spec/store.md describes the result.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "store/message_rows.h"
#include "store/sqlite/connection.h"

namespace relay::store {

inline constexpr std::int64_t kApplicationId = 0x4152'4C59;  // "ARLY", in the file's header
inline constexpr int kSchemaVersion = 8;

/// A delivery's state and hold in one number. The indexes of deliveries use it instead of the state, so a change that
/// leaves a delivery in its queue (an acceptance) touches no index.
enum class QueueState : std::uint8_t {
  Ready,    // may go as soon as its lane is open
  Delayed,  // records::Hold::Time
  Held,     // records::Hold::Policy
  Settled,  // delivered or cancelled
  Dead,     // ended without being delivered
};
constexpr QueueState queue_state_of(records::DeliveryState state, records::Hold hold) {
  if (ended_undelivered(state)) return QueueState::Dead;
  if (is_final(state)) return QueueState::Settled;
  return hold == records::Hold::None   ? QueueState::Ready
         : hold == records::Hold::Time ? QueueState::Delayed
                                       : QueueState::Held;
}
/// Conditions spelled exactly as in the partial indexes; otherwise SQLite does not use those.
#define RELAY_PENDING(table) table "queue_state<3"
#define RELAY_IN_LANE(table) table "queue_state=0"
#define RELAY_HELD(table) table "queue_state BETWEEN 1 AND 2"
#define RELAY_HELD_FOR_A_TIME(table) table "queue_state=1"
#define RELAY_DEAD(table) table "queue_state=4"
static_assert(static_cast<int>(QueueState::Delayed) == 1 && static_cast<int>(QueueState::Settled) == 3 &&
              static_cast<int>(QueueState::Dead) == 4);

/// The readable text of a message, as the full-text index stores it.
#define RELAY_BODY_OF(table) \
  "CASE WHEN json_valid(" table ".payload) THEN coalesce(json_extract(" table ".payload,'$.body'),'') ELSE '' END"

/// Fails with Damaged for a file of another program and with Newer for a later version. An empty file passes.
Result<void> check_identity(SqliteConnection& connection);

/// Applies the steps that are missing, up to `version`.
Result<void> migrate(SqliteConnection& connection, int version = kSchemaVersion);

/// Replaces the full-text index by an empty one; indexing then starts from the first message.
Result<void> recreate_full_text(SqliteConnection& connection);

}  // namespace relay::store
