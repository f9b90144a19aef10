#include "store/memory/store.h"

#include <algorithm>

#include "base/format.h"
#include "protocol/send.h"
#include "records/short_id.h"
#include "store/message_rows.h"

namespace relay::store {

using namespace records;

namespace {

constexpr std::size_t kDefaultHistoryEntries = 2;  // of a history

/// A final delivery has no hold, and only Hold::Time has an available_at.
void clear_expired_hold(Delivery& delivery) {
  if (is_final(delivery.state)) delivery.hold = Hold::None;
  if (delivery.hold != Hold::Time) delivery.available_at = 0;
}

}  // namespace

template <class Map>
void MemoryStore::put(Map& map, const typename Map::key_type& key, typename Map::mapped_type value) {
  const auto found = map.find(key);
  if (found == map.end()) {
    map.emplace(key, std::move(value));
    undo_.emplace_back([&map, key] { map.erase(key); });
  } else {
    undo_.emplace_back([&map, key, old = std::move(found->second)] { map.at(key) = old; });
    found->second = std::move(value);
  }
}

template <class Map>
void MemoryStore::erase(Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  if (found == map.end()) return;
  undo_.emplace_back([&map, key, old = std::move(found->second)] { map.emplace(key, old); });
  map.erase(found);
}

Result<void> MemoryStore::begin(CommitDurability) {
  RELAY_ASSERT(!in_group_);
  in_group_ = true;
  newest_before_ = tables_.newest;
  undo_.clear();
  return {};
}

Result<void> MemoryStore::apply(const Change& change) {
  RELAY_ASSERT(in_group_);
  auto done = std::visit([this](const auto& one) { return on(one); }, change);
  if (!done) rollback();
  return done;
}

Result<void> MemoryStore::commit() {
  in_group_ = false;
  undo_.clear();
  enforce_limit();
  return {};
}

void MemoryStore::enforce_limit() {
  while (tables_.bytes + tables_.log.bytes() > max_bytes_) {
    // A log beyond its share is pruned before any message.
    if (tables_.log.bytes() > max_bytes_ / kEventDivisor) {
      tables_.log.drop_oldest();
    } else if (const auto settled = tables_.next_settled()) {
      tables_.remove_all(*settled);
    } else {
      break;
    }
  }
}

void MemoryStore::rollback() {
  for (; !undo_.empty(); undo_.pop_back()) undo_.back()();
  if (in_group_) tables_.newest = newest_before_;
  in_group_ = false;
}

void MemoryStore::count(const AgentName& agent, std::uint64_t WorkspaceState::Counts::* counter) {
  const auto found = tables_.counts.find(agent.value());
  if (found == tables_.counts.end()) return;
  undo_.emplace_back([this, name = agent.value(), counter] { --(tables_.counts.at(name).*counter); });
  ++(found->second.*counter);
}

Result<void> MemoryStore::on(const AddMessage& change) {
  const auto key = change.message.key.value();
  if (tables_.messages.contains(key))
    return fail(Errc::BadChange, format("message {} is stored already", short_id(change.message.key)));
  undo_.emplace_back([this, key] { tables_.remove_message(key); });
  tables_.add(change.message);
  const auto& message = change.message;
  count(message.from, &WorkspaceState::Counts::sent);
  log({.type = kMessageExchanged, .at = message.ts, .agent = message.from, .session = message.session, .message = key});
  return {};
}

Result<void> MemoryStore::on(const AddDelivery& change) {
  const auto& delivery = change.delivery;
  const auto key = delivery.key.value();
  if (tables_.deliveries.contains(key))
    return fail(Errc::BadChange, format("delivery {} is stored already", delivery_id(delivery.key)));
  const auto message = tables_.messages.find(delivery.message.value());
  if (message == tables_.messages.end()) {
    return fail(Errc::BadChange, format("delivery {} names a message that is not stored", delivery_id(delivery.key)));
  }
  undo_.emplace_back([this, key] { tables_.remove_delivery(key); });
  const auto at = change.at == 0 ? message->second.ts : change.at;
  MemoryTables::DeliveryRow row{delivery, {}};
  clear_expired_hold(row.delivery);
  row.history.reserve(kDefaultHistoryEntries);
  row.history.push_back({at, delivery.state, delivery.proof, change.reason});
  log_entry(row, {}, change.at);
  tables_.add(std::move(row));
  if (delivery.state == DeliveryState::Delivered) count(delivery.to, &WorkspaceState::Counts::received);
  return {};
}

void MemoryStore::advance(MemoryTables::DeliveryRow& row, Delivery next, HistoryEntry entry) {
  undo_.emplace_back([this, before = row.delivery] { tables_.revert(before.key.value(), before); });
  tables_.advance(row, std::move(next), std::move(entry));
}

Result<void> MemoryStore::on(const ChangeDelivery& change) {
  const auto found = tables_.deliveries.find(change.key.value());
  if (found == tables_.deliveries.end()) return {};
  auto& row = found->second;
  if (!is_legal_transition(row.delivery.state, row.delivery.proof, change.state, change.proof)) return {};
  if (change.state == DeliveryState::Delivered && row.delivery.state != DeliveryState::Delivered)
    count(row.delivery.to, &WorkspaceState::Counts::received);
  auto next = row.delivery;
  next.state = change.state;
  next.proof = change.proof;
  next.hold = change.hold;
  next.available_at = change.available_at;
  clear_expired_hold(next);
  next.attempts = change.attempts.value_or(next.attempts);
  advance(row, std::move(next), {change.at, change.state, change.proof, change.reason, change.via, change.evidence});
  log_entry(row, change.session, change.at);
  return {};
}

Result<void> MemoryStore::on(const RequeueDelivery& change) {
  const auto found = tables_.deliveries.find(change.key.value());
  if (found == tables_.deliveries.end() || is_final(found->second.delivery.state)) return {};
  auto& row = found->second;
  auto next = row.delivery;
  next.state = DeliveryState::Queued;
  next.proof = Proof::Stored;
  next.hold = Hold::None;
  next.available_at = 0;
  next.lane = change.lane;
  next.rank = change.rank;
  next.seq = change.seq;
  advance(row, std::move(next), {change.at, DeliveryState::Queued, Proof::Stored, change.reason});
  log_entry(row, {}, change.at);
  return {};
}

Result<void> MemoryStore::on(const SetStream& change) {
  const auto& stream = change.stream;
  const std::tuple key{stream.topic.value(), stream.from.value(), stream.to.value(), protocol::lane_code(stream.lane)};
  const auto found = tables_.streams.find(key);
  if (found == tables_.streams.end()) {
    put(tables_.streams, key, change.stream);
    return {};
  }
  auto& stored = found->second;
  undo_.emplace_back([&stored, last = stored.last, acked = stored.acked] {
    stored.last = last;
    stored.acked = acked;
  });
  stored.last = std::max(stored.last, stream.last);
  stored.acked = std::max(stored.acked, stream.acked);
  return {};
}

Result<void> MemoryStore::on(const ForgetStream& change) {
  const auto& stream = change.stream;
  const auto lane = protocol::lane_code(stream.lane);
  const std::tuple key{stream.topic.value(), stream.from.value(), stream.to.value(), lane};
  const auto found = tables_.streams.find(key);
  if (found != tables_.streams.end() && found->second.last <= stream.last) erase(tables_.streams, key);
  const std::tuple pair{stream.from.value(), stream.to.value(), lane};
  const auto stored = tables_.stream_marks.find(pair);
  if (stored != tables_.stream_marks.end() && stored->second.last >= stream.last) return {};
  put(tables_.stream_marks, pair, Stream{Topic{}, stream.from, stream.to, stream.lane, stream.last, Seq{}});
  return {};
}

Result<void> MemoryStore::on(const AddSubscription& change) {
  const auto found = tables_.sessions.find(change.session.value());
  if (found == tables_.sessions.end() ||
      std::ranges::find(found->second.topics, change.topic) != found->second.topics.end())
    return {};
  auto session = found->second;
  session.topics.push_back(change.topic);
  put(tables_.sessions, change.session.value(), std::move(session));
  return {};
}

Result<void> MemoryStore::on(const RemoveSubscription& change) {
  const auto found = tables_.sessions.find(change.session.value());
  if (found == tables_.sessions.end()) return {};
  auto session = found->second;
  std::erase(session.topics, change.topic);
  put(tables_.sessions, change.session.value(), std::move(session));
  return {};
}

Result<void> MemoryStore::on(const PutAgent& change) {
  const auto& name = change.agent.name;
  put(tables_.agents, name.value(), change.agent);
  if (!tables_.counts.contains(name.value())) put(tables_.counts, name.value(), {.agent = name});
  return {};
}

Result<void> MemoryStore::on(const RemoveAgent& change) {
  const auto& name = change.name.value();
  const auto pending = tables_.pending_of(name);  // a copy: the loop removes its entries
  for (const auto key : pending) {
    const auto proof = tables_.deliveries.at(key).delivery.proof;
    RELAY_TRY(on(ChangeDelivery{Key{key}, DeliveryState::Cancelled, proof, change.at, kReasonRemoved}));
  }
  if (change.with_messages) {
    std::vector<std::int64_t> sent;
    for (const auto& [key, message] : tables_.messages) {
      if (message.from == change.name) sent.push_back(key);
    }
    for (const auto key : sent) remove_unless_pending(key);
  }
  erase(tables_.agents, name);
  erase(tables_.counts, name);
  std::vector<std::pair<std::string, std::string>> memberships;
  for (const auto& [member, joined] : tables_.members) {
    if (member.second == name) memberships.push_back(member);
  }
  for (const auto& membership : memberships) erase(tables_.members, membership);
  for (const auto& [id, session] : tables_.sessions) {
    if (session.agent != change.name || session.ended != 0) continue;
    auto ended = session;
    ended.ended = change.at;
    put(tables_.sessions, id, std::move(ended));
  }
  return {};
}

Result<void> MemoryStore::on(const PutSession& change) {
  put(tables_.sessions, change.session.id.value(), change.session);
  return {};
}

Result<void> MemoryStore::on(const JoinChannel& change) {
  put(tables_.members, {change.membership.channel, change.membership.member.value()}, true);
  return {};
}

Result<void> MemoryStore::on(const LeaveChannel& change) {
  erase(tables_.members, {change.membership.channel, change.membership.member.value()});
  return {};
}

Result<void> MemoryStore::on(const SetOutboxMark& change) {
  const auto stored = tables_.marks.find({change.mark.sender.value(), change.mark.epoch});
  if (stored != tables_.marks.end() && stored->second.high > change.mark.high) return {};
  put(tables_.marks, {change.mark.sender.value(), change.mark.epoch}, change.mark);
  return {};
}

Result<void> MemoryStore::on(const PutProposal& change) {
  put(tables_.proposals, change.proposal.id, change.proposal);
  return {};
}

Result<void> MemoryStore::on(const PutUsage& change) {
  put(tables_.usage, {change.usage.session.value(), change.usage.request}, change.usage);
  return {};
}

Result<void> MemoryStore::on(const AddSessionStats& change) {
  const auto stored_stats = tables_.session_stats.find(change.session.value());
  auto stats = stored_stats == tables_.session_stats.end() ? SessionStats{} : stored_stats->second;
  stats.items += change.more.items;
  stats.commands += change.more.commands;
  for (const auto& file : change.more.files) {
    const auto place = std::ranges::lower_bound(stats.files, file);
    const bool listed = place != stats.files.end() && *place == file;
    if (!listed && stats.files.size() < kMaxSessionFiles) stats.files.insert(place, file);
  }
  put(tables_.session_stats, change.session.value(), std::move(stats));
  return {};
}

void MemoryStore::remove_unless_pending(std::int64_t message) {
  if (tables_.is_pending(message)) return;
  for (const auto key : tables_.deliveries_of(message))
    undo_.emplace_back([this, old = tables_.deliveries.at(key)] { tables_.add(old); });
  undo_.emplace_back([this, old = tables_.messages.at(message)] { tables_.add(old); });
  tables_.remove_all(message);
}

Result<ExpireResult> MemoryStore::expire(const ExpireRequest& request) {
  RELAY_ASSERT(in_group_);
  ExpireResult result;
  const auto& due = tables_.expiring();
  while (!due.empty() && due.begin()->first <= request.now && result.expired.size() < request.max_rows) {
    const auto delivery = tables_.deliveries.at(due.begin()->second).delivery;
    const auto& message = tables_.messages.at(delivery.message.value());
    const auto state = state_on_expiry(delivery.proof);
    result.expired.push_back({delivery.key, delivery.message, message.from, delivery.to, message.id, delivery.hold,
                              state, std::string{protocol::expiry_reason(message.payload_meta, delivery.expires_at)}});
    RELAY_TRY(on(ChangeDelivery{delivery.key, state, delivery.proof, request.now, result.expired.back().reason}));
  }
  if (!due.empty()) result.next_expiry = due.begin()->first;
  return result;
}

}  // namespace relay::store
