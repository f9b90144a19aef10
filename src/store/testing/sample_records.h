/// Small records for tests of stores; members that a test does not pass have plausible values.
#pragma once

#include <string>
#include <vector>

#include "base/format.h"
#include "records/changes.h"
#include "records/short_id.h"
#include "store/message_store.h"

namespace relay::store::sample {

inline constexpr WallMs kStart = 1'700'000'000'000;

inline records::Message message(std::int64_t key, const std::string& from, const std::string& to,
                                const std::string& body) {
  records::Message message;
  message.key = Key{key};
  message.id = format("id-{}", key);
  message.ts = kStart + key;
  message.from = AgentName{from};
  message.to = to;
  message.kind = "message";
  message.payload = format(R"({{"kind":"message","body":"{}"}})", body);
  message.session = SessionId{"session-of-" + from};
  return message;
}

inline records::Delivery delivery(std::int64_t key, std::int64_t message, const std::string& to, std::uint64_t seq = 1,
                                  const std::string& from = "Alice") {
  records::Delivery delivery;
  delivery.key = Key{key};
  delivery.message = Key{message};
  delivery.from = AgentName{from};
  delivery.to = AgentName{to};
  delivery.rank = Key{key};
  delivery.seq = Seq{seq};
  delivery.expires_at = kStart + 1'000'000;
  return delivery;
}

/// A direct message with its delivery (key + 1) and its stream.
inline records::Changes direct(std::int64_t key, const std::string& from, const std::string& to,
                               const std::string& body, std::uint64_t seq = 1) {
  return {records::AddMessage{message(key, from, to, body)},
          records::AddDelivery{delivery(key + 1, key, to, seq, from)},
          records::SetStream{{Topic{}, AgentName{from}, AgentName{to}, {}, Seq{seq}, Seq{}}}};
}

inline records::ChangeDelivery change(std::int64_t key, records::DeliveryState state, WallMs at = kStart + 500) {
  return {Key{key}, state, records::Proof::Accepted, at, "because"};
}

inline records::BacklogRequest backlog_of(const std::string& to, std::int64_t after = 0,
                                          const std::string& from = "Alice", protocol::Lane lane = {}) {
  return {AgentName{to}, lane, AgentName{from}, Key{after}, 100, 1 << 20};
}

/// Builds a MessageQuery: `QueryBuilder{}.from("Alice").limit(2)`.
class QueryBuilder {
 public:
  QueryBuilder& limit(std::size_t rows) { return query_.limit = rows, *this; }
  QueryBuilder& since(WallMs time) { return query_.since = time, *this; }
  QueryBuilder& from(std::string name) { return query_.from = std::move(name), *this; }
  QueryBuilder& to(std::string name) { return query_.to = std::move(name), *this; }
  QueryBuilder& thread(std::string name) { return query_.thread = std::move(name), *this; }
  QueryBuilder& channel(std::string name) { return query_.channel = std::move(name), *this; }
  QueryBuilder& delivered_to(std::string name) { return query_.delivered_to = std::move(name), *this; }
  QueryBuilder& unread_only() { return query_.unread_only = true, *this; }
  QueryBuilder& ascending() { return query_.ascending = true, *this; }
  QueryBuilder& id(std::string id) { return query_.id = std::move(id), *this; }
  QueryBuilder& search(std::string words) { return query_.search = std::move(words), *this; }
  QueryBuilder& after(std::int64_t key) { return query_.after = Key{key}, *this; }
  QueryBuilder& before(std::int64_t key) { return query_.before = Key{key}, *this; }
  operator const records::MessageQuery&() const { return query_; }

 private:
  records::MessageQuery query_;
};

inline records::Agent agent(const std::string& name) {
  records::Agent agent;
  agent.name = AgentName{name};
  return agent;
}

inline records::Session session(const std::string& id, const std::string& agent) {
  records::Session session;
  session.id = SessionId{id};
  session.agent = AgentName{agent};
  return session;
}

inline records::Proposal proposal(const std::string& id, const std::string& proposer) {
  records::Proposal proposal;
  proposal.id = id;
  proposal.proposer = AgentName{proposer};
  return proposal;
}

/// Applies and commits one group.
inline Result<void> commit(MessageStore& store, const records::Changes& changes) {
  RELAY_TRY(store.begin());
  for (const auto& one : changes) RELAY_TRY(store.apply(one));
  return store.commit();
}

}  // namespace relay::store::sample
