/// Rows as records: the column lists and the functions that read them. Private to src/store.
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

/// The newest entry of a delivery's history, in the order of RELAY_HISTORY_COLUMNS; a NULL time: the implicit first
/// entry.
#define RELAY_NEWEST_ENTRY "d.entry_at,d.state,d.proof,d.reason,d.via,d.evidence"
inline constexpr int kEntryColumns = 6;
records::HistoryEntry read_newest_entry(const Statement& row, int first, WallMs message_ts);

/// Columns of a history entry.
#define RELAY_HISTORY_COLUMNS "at,state,proof,reason,via,evidence"
records::HistoryEntry read_history_entry(const Statement& row, int first);
/// The first entry that is not written: queued and stored at the time of the message.
records::HistoryEntry implicit_first_entry(WallMs at);

/// A number of a damaged row becomes a valid enumerator.
records::DeliveryState read_state(std::int64_t number);
records::Proof read_proof(std::int64_t number);
protocol::Lane read_lane(std::int64_t number);
records::Hold read_hold(std::int64_t queue_state);

}  // namespace relay::store
