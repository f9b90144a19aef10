/// Rows back into records: the column lists and the functions that read them stand together. Private to src/store.
#pragma once

#include "records/queries.h"
#include "store/sqlite_handle.h"

namespace relay::store {

/// Columns of a message, with `m` the message, `s` its sender's name and `r` the name it was addressed to.
#define RELAY_MESSAGE_COLUMNS "m.key,m.id,m.ts,s.name,r.name,m.topic,m.kind,m.thread,m.session,m.payload_meta,m.payload"
#define RELAY_MESSAGE_NAMES " JOIN names s ON s.id=m.sender JOIN names r ON r.id=m.recipient "
inline constexpr int kMessageColumns = 11;
records::Message read_message(const Statement& row, int first);

/// Columns of a delivery `d`, without its recipient's name.
#define RELAY_DELIVERY_COLUMNS \
  "d.key,d.message,d.seq,d.carriage,d.shadow_of,d.state,d.proof,d.expires_at,d.queued_offline"
inline constexpr int kDeliveryColumns = 9;
records::Delivery read_delivery(const Statement& row, int first, AgentName to);

/// Numbers of a damaged row become the nearest meaning, never an enumerator that does not exist.
records::DeliveryState read_state(std::int64_t number);
records::Proof read_proof(std::int64_t number);

}  // namespace relay::store
