#include "store/sqlite_rows.h"

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
  const bool known = number >= 0 && number <= static_cast<std::int64_t>(DeliveryState::Dead);
  return known ? static_cast<DeliveryState>(number) : DeliveryState::InDoubt;
}

Proof read_proof(std::int64_t number) {
  const bool known = number >= 0 && number <= static_cast<std::int64_t>(Proof::Seen);
  return known ? static_cast<Proof>(number) : Proof::Stored;
}

Delivery read_delivery(const Statement& row, int first, AgentName to) {
  Delivery delivery;
  delivery.key = Key{row.integer(first)};
  delivery.message = Key{row.integer(first + 1)};
  delivery.to = std::move(to);
  delivery.seq = Seq{static_cast<std::uint64_t>(row.integer(first + 2))};
  const auto carriage = row.integer(first + 3);
  const bool known = carriage >= 0 && carriage <= static_cast<std::int64_t>(Carriage::ShadowTrigger);
  delivery.carriage = known ? static_cast<Carriage>(carriage) : Carriage::Deliver;
  delivery.shadow_of = row.text(first + 4);
  delivery.state = read_state(row.integer(first + 5));
  delivery.proof = read_proof(row.integer(first + 6));
  delivery.expires_at = row.integer(first + 7);
  delivery.queued_offline = row.integer(first + 8) != 0;
  return delivery;
}

}  // namespace relay::store
