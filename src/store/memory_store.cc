#include "store/memory_store.h"

#include <algorithm>

#include "base/format.h"
#include "records/short_id.h"
#include "store/message_rows.h"

namespace relay::store {

using namespace records;

namespace {

/// What is final is held by nothing, and only a time has an end.
void keep_only_what_holds(Delivery& delivery) {
  if (is_final(delivery.state)) delivery.hold = Hold::None;
  if (delivery.hold != Hold::Time) delivery.available_at = 0;
}

}  // namespace

template <class Map>
void MemoryStore::put(Map& map, const typename Map::key_type& key, typename Map::mapped_type value) {
  const auto found = map.find(key);
  if (found == map.end()) {
    map.emplace(key, std::move(value));
    way_back_.emplace_back([&map, key] { map.erase(key); });
  } else {
    way_back_.emplace_back([&map, key, old = std::move(found->second)] { map.at(key) = old; });
    found->second = std::move(value);
  }
}

template <class Map>
void MemoryStore::take(Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  if (found == map.end()) return;
  way_back_.emplace_back([&map, key, old = std::move(found->second)] { map.emplace(key, old); });
  map.erase(found);
}

Result<void> MemoryStore::begin(Promise) {
  RELAY_ASSERT(!in_group_);
  in_group_ = true;
  way_back_.clear();
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
  way_back_.clear();
  return {};
}

void MemoryStore::rollback() {
  for (; !way_back_.empty(); way_back_.pop_back()) way_back_.back()();
  in_group_ = false;
}

Result<void> MemoryStore::on(const AddMessage& change) {
  const auto key = change.message.key.value();
  if (tables_.messages.contains(key))
    return fail(Errc::BadChange, format("message {} is stored already", short_id(change.message.key)));
  way_back_.emplace_back([this, key, newest = tables_.newest] {
    tables_.remove_message(key);
    tables_.newest = newest;
  });
  tables_.add(change.message);
  const auto& message = change.message;
  log({{std::string{kMessageExchanged}, message.ts, message.from, message.session, {}}, key});
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
  way_back_.emplace_back([this, key, newest = tables_.newest] {
    tables_.remove_delivery(key);
    tables_.newest = newest;
  });
  const auto at = change.at == 0 ? message->second.ts : change.at;
  MemoryTables::Tracked tracked{delivery, {{at, delivery.state, delivery.proof, change.reason}}};
  keep_only_what_holds(tracked.delivery);
  tables_.add(std::move(tracked));
  log_line(delivery.key, {}, change.at);
  return {};
}

Result<void> MemoryStore::on(const ChangeDelivery& change) {
  const auto key = change.key.value();
  const auto found = tables_.deliveries.find(key);
  if (found == tables_.deliveries.end()) return {};
  auto tracked = found->second;
  auto& delivery = tracked.delivery;
  if (!may_change(delivery.state, delivery.proof, change.state, change.proof)) return {};
  way_back_.emplace_back([this, key, old = tracked] { tables_.replace(key, old); });
  delivery.state = change.state;
  delivery.proof = change.proof;
  delivery.hold = change.hold;
  delivery.available_at = change.available_at;
  keep_only_what_holds(delivery);
  delivery.attempts = change.attempts.value_or(delivery.attempts);
  tracked.history.push_back({change.at, change.state, change.proof, change.reason, change.way, change.evidence});
  tables_.replace(key, std::move(tracked));
  log_line(change.key, change.session, change.at);
  return {};
}

Result<void> MemoryStore::on(const RequeueDelivery& change) {
  const auto key = change.key.value();
  const auto found = tables_.deliveries.find(key);
  if (found == tables_.deliveries.end() || is_final(found->second.delivery.state)) return {};
  auto tracked = found->second;
  way_back_.emplace_back([this, key, newest = tables_.newest, old = tracked] {
    tables_.replace(key, old);
    tables_.newest = newest;
  });
  auto& delivery = tracked.delivery;
  delivery.state = DeliveryState::Queued;
  delivery.proof = Proof::Stored;
  delivery.hold = Hold::None;
  delivery.available_at = 0;
  delivery.lane = change.lane;
  delivery.rank = change.rank;
  delivery.seq = change.seq;
  tracked.history.push_back({change.at, delivery.state, delivery.proof, change.reason});
  tables_.replace(key, std::move(tracked));
  log_line(change.key, {}, change.at);
  return {};
}

Result<void> MemoryStore::on(const SetStream& change) {
  auto stream = change.stream;
  const std::tuple key{stream.topic.value(), stream.from.value(), stream.to.value(), protocol::code_of(stream.lane)};
  const auto found = tables_.streams.find(key);
  if (found != tables_.streams.end()) {
    stream.last = std::max(stream.last, found->second.last);
    stream.acked = std::max(stream.acked, found->second.acked);
  }
  put(tables_.streams, key, std::move(stream));
  return {};
}

Result<void> MemoryStore::on(const PutAgent& change) {
  put(tables_.agents, change.agent.name.value(), change.agent);
  return {};
}

Result<void> MemoryStore::on(const RemoveAgent& change) {
  const auto& name = change.name.value();
  const auto pending = tables_.pending_of(name);
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
  take(tables_.agents, name);
  std::vector<std::pair<std::string, std::string>> places;
  for (const auto& [place, there] : tables_.members) {
    if (place.second == name) places.push_back(place);
  }
  for (const auto& place : places) take(tables_.members, place);
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
  take(tables_.members, {change.membership.channel, change.membership.member.value()});
  return {};
}

Result<void> MemoryStore::on(const SetOutboxMark& change) {
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

Result<void> MemoryStore::on(const CountWork& change) {
  const auto known_work = tables_.work.find(change.session.value());
  auto work = known_work == tables_.work.end() ? Work{} : known_work->second;
  work.items += change.more.items;
  work.commands += change.more.commands;
  for (const auto& file : change.more.files) {
    const auto place = std::ranges::lower_bound(work.files, file);
    const bool known = place != work.files.end() && *place == file;
    if (!known && work.files.size() < kMaxWorkFiles) work.files.insert(place, file);
  }
  put(tables_.work, change.session.value(), std::move(work));
  return {};
}

std::size_t MemoryStore::remove_unless_pending(std::int64_t message) {
  if (tables_.is_pending(message)) return 0;
  const auto keys = tables_.deliveries_of(message);
  for (const auto key : keys) {
    way_back_.emplace_back([this, old = tables_.deliveries.at(key)] { tables_.add(old); });
    tables_.remove_delivery(key);
  }
  way_back_.emplace_back([this, old = tables_.messages.at(message)] { tables_.add(old); });
  tables_.remove_message(message);
  return 1 + keys.size();
}

Result<ExpireResult> MemoryStore::expire(const ExpireRequest& request) {
  RELAY_ASSERT(in_group_);
  ExpireResult result;
  const auto& due = tables_.expiring();
  while (!due.empty() && due.begin()->first <= request.now && result.expired.size() < request.max_rows) {
    const auto delivery = tables_.deliveries.at(due.begin()->second).delivery;
    const auto& message = tables_.messages.at(delivery.message.value());
    const auto state = state_when_late(delivery.proof);
    result.expired.push_back(
        {delivery.key, delivery.message, message.from, delivery.to, message.id, delivery.hold, state});
    RELAY_TRY(on(ChangeDelivery{delivery.key, state, delivery.proof, request.now, kReasonExpired}));
  }
  if (!due.empty()) result.next_expiry = due.begin()->first;
  return result;
}

}  // namespace relay::store
