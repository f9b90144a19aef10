#include "store/sqlite/rows.h"

#include "store/sqlite/schema.h"

namespace relay::store {

using namespace records;

Message read_message(const Statement& row, int first) {
  Message message;
  message.key = Key{row.integer(first)};
  message.id = row.text(first + 1);
  message.ts = row.integer(first + 2);
  message.from = AgentName{row.text(first + 3)};
  message.to = row.text(first + 4);
  message.topic = Topic{row.text(first + 5)};
  message.kind = row.is_null(first + 6) ? "message" : row.text(first + 6);
  message.thread = row.text(first + 7);
  message.session = SessionId{row.text(first + 8)};
  message.payload_meta = row.text(first + 9);
  message.payload = row.text(first + 10);
  return message;
}

DeliveryState read_state(std::int64_t number) {
  const bool valid = number >= 0 && number <= static_cast<std::int64_t>(DeliveryState::Dead);
  return valid ? static_cast<DeliveryState>(number) : DeliveryState::InDoubt;
}

Proof read_proof(std::int64_t number) {
  const bool valid = number >= 0 && number <= static_cast<std::int64_t>(Proof::Seen);
  return valid ? static_cast<Proof>(number) : Proof::Stored;
}

protocol::Lane read_lane(std::int64_t number) {
  return protocol::lane_from_code(static_cast<std::uint64_t>(number)).value_or(protocol::Lane{});
}

Hold read_hold(std::int64_t queue_state) {
  if (queue_state == static_cast<std::int64_t>(QueueState::Delayed)) return Hold::Time;
  return queue_state == static_cast<std::int64_t>(QueueState::Held) ? Hold::Policy : Hold::None;
}

Delivery read_delivery(const Statement& row, int first) {
  Delivery delivery;
  int column = first;
  const auto next_integer = [&] { return row.integer(column++); };
  const auto next_text = [&] { return row.text(column++); };
  delivery.key = Key{next_integer()};
  delivery.message = Key{next_integer()};
  delivery.from = AgentName{next_text()};
  delivery.to = AgentName{next_text()};
  delivery.lane = read_lane(next_integer());
  delivery.rank = Key{next_integer()};
  delivery.seq = Seq{static_cast<std::uint64_t>(next_integer())};
  const auto frame_kind = next_integer();
  const bool valid = frame_kind >= 0 && frame_kind <= static_cast<std::int64_t>(FrameKind::ShadowTrigger);
  delivery.frame_kind = valid ? static_cast<FrameKind>(frame_kind) : FrameKind::Deliver;
  delivery.shadow_of = next_text();
  delivery.state = read_state(next_integer());
  delivery.proof = read_proof(next_integer());
  delivery.expires_at = next_integer();
  delivery.queued_offline = next_integer() != 0;
  delivery.hold = read_hold(next_integer());
  delivery.available_at = next_integer();
  delivery.attempts = static_cast<std::uint32_t>(next_integer());
  return delivery;
}

HistoryEntry read_history_entry(const Statement& row, int first) {
  return {row.integer(first),
          read_state(row.integer(first + 1)),
          read_proof(row.integer(first + 2)),
          row.text(first + 3),
          row.text(first + 4),
          row.text(first + 5)};
}

HistoryEntry read_newest_entry(const Statement& row, int first, WallMs message_ts) {
  return row.is_null(first) ? implicit_first_entry(message_ts) : read_history_entry(row, first);
}

HistoryEntry implicit_first_entry(WallMs at) { return {at, DeliveryState::Queued, Proof::Stored, {}}; }

}  // namespace relay::store
