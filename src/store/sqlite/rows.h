/// Rows back into records: the column lists and the functions that read them stand together. Private to src/store.
#pragma once

#include "records/queries.h"
#include "store/sqlite/connection.h"

namespace relay::store {

/// Columns of a message, with `m` the message, `s` its sender's name and `r` the name it was addressed to.
#define RELAY_MESSAGE_BEHIND_KEY "m.id,m.ts,s.name,r.name,m.topic,m.kind,m.thread,m.session,m.payload_meta,m.payload"
#define RELAY_MESSAGE_COLUMNS "m.key," RELAY_MESSAGE_BEHIND_KEY
#define RELAY_MESSAGE_NAMES " JOIN names s ON s.id=m.sender JOIN names r ON r.id=m.recipient "
inline constexpr int kMessageColumns = 11;
records::Message read_message(const Statement& row, int first);

/// Columns of a delivery, with `d` the delivery, `df` its sender's name and `dt` its recipient's.
#define RELAY_DELIVERY_COLUMNS                                                                                 \
  "d.key,d.message,df.name,dt.name,d.lane,d.rank,d.seq,d.frame_kind,d.shadow_of,d.state,d.proof,d.expires_at," \
  "d.queued_offline,d.queue_state,d.available_at,d.attempts"
#define RELAY_DELIVERY_NAMES " JOIN names df ON df.id=d.sender JOIN names dt ON dt.id=d.recipient "
inline constexpr int kDeliveryColumns = 16;
records::Delivery read_delivery(const Statement& row, int first);

/// The newest line of a delivery's history, in the order of the columns below; a NULL in front: the is_implicit beginning.
#define RELAY_NEWEST_ENTRY "d.entry_at,d.state,d.proof,d.reason,d.via,d.evidence"
inline constexpr int kEntryColumns = 6;
records::HistoryEntry read_newest_entry(const Statement& row, int first, WallMs message_ts);

/// Columns of a line of history.
#define RELAY_HISTORY_COLUMNS "at,state,proof,reason,via,evidence"
records::HistoryEntry read_event(const Statement& row, int first);
/// The line that is not written: a delivery begins with its message.
records::HistoryEntry implicit_first_entry(WallMs at);

/// Numbers of a damaged row become the nearest meaning, never an enumerator that does not exist.
records::DeliveryState read_state(std::int64_t number);
records::Proof read_proof(std::int64_t number);
protocol::Lane read_lane(std::int64_t number);
records::Hold read_hold(std::int64_t wait);

}  // namespace relay::store
