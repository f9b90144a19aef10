// The event log of the memory store, and the sums of usage and session statistics.
#include <algorithm>

#include "records/query_errors.h"
#include "store/event_json.h"
#include "store/memory/store.h"
#include "store/message_rows.h"

namespace relay::store {

using namespace records;

void MemoryStore::log(MemoryEventLog::Row row) {
  undo_.emplace_back([this] { tables_.log.pop_newest(); });
  tables_.log.add(std::move(row));
}

void MemoryStore::log_entry(const MemoryTables::DeliveryRow& row, const SessionId& session, WallMs at) {
  const auto& delivery = row.delivery;
  const auto entry = row.history.size() - 1;
  log({.type = event_type_of(delivery.state, entry == 0),
       .at = at,
       .agent = delivery.to,
       .session = session,
       .message = delivery.message.value(),
       .delivery = delivery.key.value(),
       .entry = entry});
}

Result<void> MemoryStore::on(const AddEvent& change) {
  auto event = std::make_unique<const EventRow>(change.event);
  const std::string_view type = event->type;
  log({.type = type, .at = event->at, .agent = event->agent, .session = event->session, .other = std::move(event)});
  return {};
}

std::string MemoryStore::encode(EventSeq number, const MemoryEventLog::Row& row, const PriceOf& price_of) {
  const EventHead head{number, row.at, std::string{row.type}, row.agent.value(), row.session.value()};
  std::optional<Message> message;
  if (const auto found = tables_.messages.find(row.message); found != tables_.messages.end()) message = found->second;
  if (row.type == kMessageExchanged) return encode_message(head, Key{row.message}, message);
  if (row.delivery == 0) {
    const auto& event = *row.other;
    if (event.type != kSessionEnded) return encode_event(head, event.body);
    SessionSummary summary;
    if (const auto found = session(event.session)) {
      summary.duration = (found->session.ended != 0 ? found->session.ended : row.at) - found->session.started;
      summary.stats = found->stats;
    }
    add_usage(summary, usage({.session = event.session.value()}).value(), price_of);
    return encode_event(head, add_summary(event.body, summary));
  }
  const auto party = [&](const std::string& name) {
    const auto agent = tables_.agents.find(name);
    const bool is_user = agent != tables_.agents.end() && agent->second.entity == protocol::EntityType::User;
    return is_user ? Party::User : Party::Agent;
  };
  DeliveryEventData data{.delivery = Key{row.delivery}, .message = message, .to = party(head.agent)};
  if (message) data.from = party(message->from.value());
  const auto found = tables_.deliveries.find(row.delivery);
  if (found == tables_.deliveries.end()) return encode_delivery(head, data);
  const auto& [delivery, history] = found->second;
  data.entry = history[row.entry];
  data.will_retry = delivery.hold == Hold::Time && delivery.state == data.entry->state;
  data.available_at = data.will_retry ? delivery.available_at : 0;
  return encode_delivery(head, data);
}

Result<EventPage> MemoryStore::events(const EventQuery& query) {
  EventPage page;
  const auto& log = tables_.log;
  page.newest = log.newest();
  page.oldest = log.empty() ? 0 : log.oldest();
  auto first = std::max(std::min(query.after, page.newest) + 1, log.oldest());
  auto end = page.newest + 1;
  if (query.before > 0) end = std::min(end, query.before);
  if (query.since > 0) first = std::max(first, log.first_since(query.since));
  if (query.until > 0) end = std::min(end, log.first_since(query.until));
  end = std::max(first, end);
  std::size_t bytes = 0;
  const auto take = [&](EventSeq number) {
    const auto& row = log.at(number);
    if (!query.filter.matches(row.type, row.agent.value(), row.session.value())) return;
    page.events.push_back({number, std::string{row.type}, encode(number, row, query.price_of)});
    bytes += page.events.back().json.size();
  };
  const auto full = [&] { return page.events.size() >= query.limit || bytes >= kMaxResultBytes; };
  if (query.newest) {
    while (end != first && !full()) take(--end);
    std::ranges::reverse(page.events);
    page.more = end != first;
    page.next_before = end;
    page.next_after = page.newest;
    return page;
  }
  while (first != end && !full()) take(first++);
  page.more = first != end;
  page.next_after = first - 1;
  return page;
}

Result<std::vector<UsageSum>> MemoryStore::usage(const UsageQuery& query) {
  std::map<std::tuple<std::string, std::string, std::string, std::string, bool>, UsageSum> sums;
  for (const auto& [key, one] : tables_.usage) {
    if (one.at < query.since || (query.until > 0 && one.at >= query.until)) continue;
    if (!query.agent.empty() && one.agent.value() != query.agent) continue;
    if (!query.session.empty() && one.session.value() != query.session) continue;
    auto& sum = sums[{one.agent.value(), one.model, one.thread, one.session.value(), !one.cost}];
    sum.agent = one.agent;
    sum.model = one.model;
    sum.thread = one.thread;
    sum.session = one.session;
    ++sum.answers;
    sum.input += one.input;
    sum.output += one.output;
    sum.cache_read += one.cache_read;
    sum.cache_write += one.cache_write;
    sum.reasoning += one.reasoning;
    if (one.cost) sum.cost = sum.cost.value_or(0) + *one.cost;
  }
  std::vector<UsageSum> rows;
  for (auto& [key, sum] : sums) rows.push_back(std::move(sum));
  return rows;
}

Result<SessionRow> MemoryStore::session(const SessionId& id) {
  const auto found = tables_.sessions.find(id.value());
  if (found == tables_.sessions.end())
    return fail(QueryErrc::NotFound, "no session has that id; `agent-relay agents` lists connected agents");
  const auto stats = tables_.session_stats.find(id.value());
  return SessionRow{found->second, stats == tables_.session_stats.end() ? SessionStats{} : stats->second};
}

}  // namespace relay::store
