/// The tables of a workspace's database and the steps from one version of them to the next. Private to src/store.
///
/// Invariants: `user_version` is the number of steps applied; the missing ones and the new number are one transaction;
/// a step that was released is never edited, only followed. docs/spec/store.md describes the result.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "store/message_rows.h"
#include "store/sqlite/connection.h"

namespace relay::store {

inline constexpr std::int64_t kApplicationId = 0x4152'4C59;  // "ARLY", in the file's header
inline constexpr int kSchemaVersion = 8;

/// What a delivery waits for: its state and its hold in one number, by which it is found. Every index of deliveries that
/// move is by this number and not by the state, so that a change which leaves a delivery where it is touches none.
enum class QueueState : std::uint8_t {
  Lane,     // may go as soon as its lane is open
  Time,     // records::Hold::Time
  Word,     // records::Hold::Policy: until somebody lets it go
  Nothing,  // delivered or cancelled
  Dead,     // nothing either: it ended without being delivered
};
constexpr QueueState queue_state_of(records::DeliveryState state, records::Hold hold) {
  if (is_dead(state)) return QueueState::Dead;
  if (is_final(state)) return QueueState::Nothing;
  return hold == records::Hold::None   ? QueueState::Lane
         : hold == records::Hold::Time ? QueueState::Time
                                       : QueueState::Word;
}
/// Conditions spelled exactly as in the partial indexes, or they go unused.
#define RELAY_PENDING(table) table "queue_state<3"
#define RELAY_IN_LANE(table) table "queue_state=0"
#define RELAY_HELD(table) table "queue_state BETWEEN 1 AND 2"
#define RELAY_HELD_FOR_A_TIME(table) table "queue_state=1"
#define RELAY_DEAD(table) table "queue_state=4"
static_assert(static_cast<int>(QueueState::Time) == 1 && static_cast<int>(QueueState::Nothing) == 3 &&
              static_cast<int>(QueueState::Dead) == 4);

/// The text people read, as the full-text index holds it.
#define RELAY_BODY_OF(table) \
  "CASE WHEN json_valid(" table ".payload) THEN coalesce(json_extract(" table ".payload,'$.body'),'') ELSE '' END"

/// Is this ours? An empty file is (it becomes ours); a file of another program is Damaged, a later version Newer.
Result<void> check_identity(SqliteConnection& connection);

/// Applies the steps that are missing, up to `version`.
Result<void> migrate(SqliteConnection& connection, int version = kSchemaVersion);

/// Drops and makes anew the full-text index, empty; indexing then starts from the first message.
Result<void> recreate_full_text(SqliteConnection& connection);

}  // namespace relay::store
