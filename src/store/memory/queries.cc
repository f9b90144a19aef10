// The reading half of the memory store: loading, queries and retention.
#include <algorithm>
#include <map>
#include <span>

#include "base/format.h"
#include "records/query_errors.h"
#include "records/short_id.h"
#include "store/memory/store.h"
#include "store/message_rows.h"
#include "store/record_json.h"
#include "store/text_search.h"

namespace relay::store {

using namespace records;

Result<WorkspaceState> MemoryStore::load() {
  WorkspaceState state;
  state.store_id = id_;
  state.newest = Key{tables_.newest};
  state.newest_event = tables_.log.newest();
  for (const auto& [name, agent] : tables_.agents) state.agents.push_back(agent);
  for (const auto& [name, counts] : tables_.counts) {
    if (counts.sent > 0 || counts.received > 0) state.counts.push_back(counts);
  }
  for (const auto& [id, session] : tables_.sessions) {
    if (session.ended == 0) state.sessions.push_back(session);
  }
  for (const auto& [key, stream] : tables_.streams) state.streams.push_back(stream);
  for (const auto& [key, mark] : tables_.stream_marks) state.stream_marks.push_back(mark);
  for (const auto& [member, joined] : tables_.members)
    state.memberships.push_back({member.first, AgentName{member.second}});
  for (const auto& [key, mark] : tables_.marks) state.marks.push_back(mark);
  for (const auto& [id, proposal] : tables_.proposals) {
    if (proposal.outcome.empty()) state.proposals.push_back(proposal);
  }
  const auto skip = tables_.messages.size() - std::min(tables_.messages.size(), kRecentIdRows);
  for (auto at = std::next(tables_.messages.begin(), static_cast<std::ptrdiff_t>(skip)); at != tables_.messages.end();
       ++at) {
    state.recent_ids.push_back({at->second.from, at->second.id, at->second.key});
    if (auto key = idempotency_key_in(at->second.payload_meta); !key.empty())
      state.recent_keys.push_back({at->second.from, std::move(key)});
  }
  std::map<std::tuple<AgentName, std::uint8_t, AgentName>, WorkspaceState::Backlog> flows;
  for (const auto& [name, keys] : tables_.pending()) {
    for (const auto key : keys) {
      const auto& delivery = tables_.deliveries.at(key).delivery;
      auto& flow = flows[{delivery.to, protocol::lane_code(delivery.lane), delivery.from}];
      ++flow.pending;
      if (delivery.hold != Hold::None) ++flow.held;
    }
  }
  for (const auto& [flow, counts] : flows) {
    const auto& [to, lane, from] = flow;
    state.backlogs.push_back({to, *protocol::lane_from_code(lane), from, counts.pending, counts.held});
  }
  if (!tables_.expiring().empty()) state.next_expiry = tables_.expiring().begin()->first;
  if (!tables_.due().empty()) state.next_due = tables_.due().begin()->first;
  return state;
}

Result<BacklogPage> MemoryStore::backlog(const BacklogRequest& request) {
  BacklogPage page{request.to, request.lane, request.from, request.after, {}, false};
  const auto& ranks = tables_.ready(request.to.value(), request.lane, request.from.value());
  const auto max_rows = std::max<std::size_t>(request.max_rows, 1);
  std::size_t bytes = 0;
  for (auto at = ranks.upper_bound({request.after.value(), INT64_MAX}); at != ranks.end(); ++at) {
    const auto& delivery = tables_.deliveries.at(at->second).delivery;
    const auto& message = tables_.messages.at(delivery.message.value());
    bytes += size_of(message);
    if (page.items.size() >= max_rows || (!page.items.empty() && bytes > request.max_bytes)) {
      page.more = true;
      break;
    }
    page.items.push_back({delivery, message});
  }
  return page;
}

Result<std::vector<MessageRow>> MemoryStore::messages(const MessageQuery& query) {
  std::vector<std::int64_t> keys;
  if (!query.id.empty()) {
    keys = find_keys(query.id);
  } else if (!query.delivered_to.empty()) {
    MemoryTables::Keys inbox;
    for (const auto key : tables_.inbox_of(query.delivered_to))
      inbox.insert(tables_.deliveries.at(key).delivery.message.value());
    keys.assign(inbox.begin(), inbox.end());
  } else if (!query.thread.empty()) {
    keys.assign(tables_.thread(query.thread).begin(), tables_.thread(query.thread).end());
  } else {
    for (auto at = tables_.messages.upper_bound(query.after.value()); at != tables_.messages.end(); ++at)
      keys.push_back(at->first);
  }
  if (!query.ascending) std::reverse(keys.begin(), keys.end());

  const SearchQuery words{query.search};
  const auto fits = [&](const Message& message) {
    if (message.key <= query.after || message.ts < query.since) return false;
    if (query.before.value() > 0 && message.key >= query.before) return false;
    if (!query.from.empty() && message.from.value() != query.from) return false;
    if (!query.to.empty() && message.to != query.to) return false;
    if (!query.channel.empty() && message.to != query.channel) return false;
    if (!query.thread.empty() && message.thread != query.thread) return false;
    if (!query.topic.empty() && message.topic.value() != query.topic) return false;
    if (!query.delivered_to.empty()) {
      const auto deliveries = tables_.deliveries_of(message.key.value());
      const bool delivered = std::any_of(deliveries.begin(), deliveries.end(), [&](auto key) {
        const auto& delivery = tables_.deliveries.at(key).delivery;
        return delivery.to.value() == query.delivered_to && (!query.unread_only || !is_final(delivery.state));
      });
      if (!delivered) return false;
    }
    return query.search.empty() || words.matches(body_text(message.payload));
  };

  std::vector<MessageRow> rows;
  std::size_t bytes = 0;
  for (const auto key : keys) {
    if (rows.size() >= query.limit || bytes >= kMaxResultBytes) break;
    const auto& message = tables_.messages.at(key);
    if (!fits(message)) continue;
    MessageRow row;
    std::vector<DeliveryProgress<AgentName>> deliveries;
    for (const auto each : tables_.deliveries_of(key)) {
      const auto& delivery = tables_.deliveries.at(each).delivery;
      deliveries.push_back({delivery.to, each, delivery.state});
    }
    row.deliveries = deliveries.size();
    row.state = message_state(deliveries).value_or(row.state);
    const auto id = short_id(message.key);
    row.reply_count = tables_.thread(id).size() + (id == message.id ? 0 : tables_.thread(message.id).size());
    row.reply_count = std::min(row.reply_count, kMaxReplyCount);
    row.message = message;
    bytes += size_of(message);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::int64_t> MemoryStore::find_keys(const std::string& id_or_prefix) const {
  std::vector<std::int64_t> found;
  if (const auto delivery = key_of_delivery_id(id_or_prefix)) {
    const auto row = tables_.deliveries.find(delivery->value());
    if (row != tables_.deliveries.end()) found.push_back(row->second.delivery.message.value());
    return found;
  }
  const Key oldest{tables_.messages.empty() ? 1 : tables_.messages.begin()->first};
  for (const auto key : keys_matching(id_or_prefix, {oldest, Key{tables_.newest}})) {
    if (tables_.messages.contains(key.value())) found.push_back(key.value());
  }
  if (!found.empty() || id_or_prefix.size() <= kShortIdLength) return found;
  std::size_t scanned = 0;
  for (auto at = tables_.messages.rbegin(); at != tables_.messages.rend() && scanned < kRecentIdRows; ++at, ++scanned) {
    if (at->second.id == id_or_prefix) found.insert(found.begin(), at->first);
  }
  return found;
}

Result<Trace> MemoryStore::trace(const std::string& id_or_prefix) {
  const auto keys = find_keys(id_or_prefix);
  if (keys.empty())
    return fail(QueryErrc::NotFound, format("no message has the id {}; `agent-relay log` lists them", id_or_prefix));
  if (keys.size() > 1) {
    std::string ids;
    for (const auto key : std::span{keys}.first(std::min(keys.size(), kMaxAmbiguousIds)))
      ids += ' ' + short_id(Key{key});
    return fail(QueryErrc::Ambiguous,
                format("{} messages have an id that starts with {}; use one of:{}", keys.size(), id_or_prefix, ids));
  }
  Trace trace{tables_.messages.at(keys.front()), {}};
  for (const auto key : tables_.deliveries_of(keys.front())) {
    if (trace.deliveries.size() >= kMaxTraceDeliveries) break;
    const auto& row = tables_.deliveries.at(key);
    trace.deliveries.push_back({row.delivery, row.history});
  }
  return trace;
}

Result<StoreStats> MemoryStore::stats() {
  StoreStats stats;
  stats.driver = "memory";
  stats.messages = tables_.messages.size();
  std::int64_t oldest = INT64_MAX;
  for (const auto& [name, keys] : tables_.pending()) {
    stats.pending += keys.size();
    oldest = std::min(oldest, *keys.begin());
  }
  if (stats.pending > 0)
    stats.oldest_pending = tables_.messages.at(tables_.deliveries.at(oldest).delivery.message.value()).ts;
  stats.dead = tables_.dead().size();
  stats.bytes = tables_.bytes + tables_.log.bytes();
  return stats;
}

Result<HeldPage> MemoryStore::held(const HeldRequest& request) {
  HeldPage page;
  const auto full = [&] { return page.items.size() >= std::max<std::size_t>(request.max_rows, 1); };
  const auto take = [&](const Delivery& delivery) {
    page.items.push_back({delivery, tables_.messages.at(delivery.message.value()).topic});
    if (request.ready)
      page.items.back().last_reason = tables_.deliveries.at(delivery.key.value()).history.back().reason;
  };
  if (request.to.value().empty()) {
    for (const auto& [available_at, key] : tables_.due()) {
      page.more = available_at <= request.due_by && full();
      page.next_due = available_at;
      if (page.more || available_at > request.due_by) return page;
      take(tables_.deliveries.at(key).delivery);
    }
    page.next_due = 0;
    return page;
  }
  const auto& pending = tables_.pending_of(request.to.value());
  for (auto at = pending.upper_bound(request.after.value()); at != pending.end() && !page.more; ++at) {
    const auto& delivery = tables_.deliveries.at(*at).delivery;
    const bool held = delivery.hold != Hold::None || delivery.lane.mode == protocol::DeliveryMode::Manual;
    if (request.ready ? delivery.hold != Hold::None : !held) continue;
    if (request.mode && *request.mode != delivery.lane.mode) continue;
    page.more = full();
    if (!page.more) take(delivery);
  }
  return page;
}

Result<std::vector<DeliveryRow>> MemoryStore::deliveries(const DeliveryQuery& query) {
  std::vector<DeliveryRow> rows;
  std::size_t bytes = 0;
  const auto take = [&](std::int64_t key) {
    const auto& [delivery, history] = tables_.deliveries.at(key);
    const auto& message = tables_.messages.at(delivery.message.value());
    bytes += size_of(message);
    rows.push_back({delivery, message, history.back()});
  };
  for (const Key key : query.deliveries) {
    if (bytes >= kMaxResultBytes) break;
    if (tables_.deliveries.contains(key.value())) take(key.value());
  }
  if (!query.deliveries.empty()) return rows;
  const auto& keys = query.to.empty() ? tables_.dead() : tables_.dead_of(query.to);
  const auto& states = query.states;
  const auto first = keys.upper_bound(query.after.value());
  const auto last = query.before.value() > 0 ? keys.lower_bound(query.before.value()) : keys.end();
  const auto take_if_matching = [&](std::int64_t key) {
    const auto& delivery = tables_.deliveries.at(key).delivery;
    if (!query.from.empty() && delivery.from.value() != query.from) return;
    if (states.empty() || std::ranges::find(states, delivery.state) != states.end()) take(key);
  };
  const auto has_room = [&] { return rows.size() < query.limit && bytes < kMaxResultBytes; };
  const auto range = query.before.value() > 0 && query.before <= query.after ? std::ranges::subrange{last, last}
                                                                             : std::ranges::subrange{first, last};
  if (query.oldest_first) {
    for (auto at = range.begin(); at != range.end() && has_room(); ++at) take_if_matching(*at);
  } else {
    for (auto at = range.end(); at != range.begin() && has_room();) take_if_matching(*--at);
  }
  return rows;
}

Result<bool> MemoryStore::index_step(std::size_t) { return false; }

Result<bool> MemoryStore::prune_step(const Retention& retention, WallMs now, std::size_t max_rows) {
  RELAY_ASSERT(!in_group_);
  const WallMs old = retention.max_age_ms > 0 ? now - retention.max_age_ms : 0;
  std::size_t rows = 0;
  auto at = tables_.messages.upper_bound(prune_position_);
  while (at != tables_.messages.end() && rows < max_rows) {
    const bool too_old = retention.max_age_ms > 0 && at->second.ts < old;
    const bool too_much = retention.max_bytes > 0 && tables_.bytes > retention.max_bytes;
    prune_position_ = at->first;
    ++at;
    ++rows;
    if ((too_old || too_much) && !tables_.is_pending(prune_position_)) rows += tables_.remove_all(prune_position_);
  }
  if (at != tables_.messages.end()) return true;
  prune_position_ = 0;
  if (retention.max_age_ms > 0) {
    std::erase_if(tables_.sessions,
                  [&](const auto& entry) { return entry.second.ended != 0 && entry.second.ended < old; });
    std::erase_if(tables_.proposals,
                  [&](const auto& entry) { return !entry.second.outcome.empty() && entry.second.expires_at < old; });
    const auto silent = std::min(old, now - records::kOutboxMarkRetentionMs);
    std::erase_if(tables_.marks, [&](const auto& entry) { return entry.second.updated < silent; });
    std::erase_if(tables_.usage, [&](const auto& entry) { return entry.second.at < old; });
    std::erase_if(tables_.session_stats, [&](const auto& entry) { return !tables_.sessions.contains(entry.first); });
  }
  if (retention.max_event_age_ms > 0)
    while (!tables_.log.empty() && tables_.log.at(tables_.log.oldest()).at < now - retention.max_event_age_ms)
      tables_.log.drop_oldest();
  return false;
}

Result<std::unique_ptr<MessageReader>> MemoryStore::open_reader() { return std::unique_ptr<MessageReader>{}; }

}  // namespace relay::store
