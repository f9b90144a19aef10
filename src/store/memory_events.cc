// The log of events in memory, and what was used and done.
#include <algorithm>
#include <iterator>

#include "records/query_errors.h"
#include "store/memory_store.h"
#include "store/message_rows.h"
#include "store/told_event.h"

namespace relay::store {

using namespace records;

void MemoryStore::log(MemoryTables::EventRow row) {
  if (!tables_.events.empty()) row.event.at = std::max(row.event.at, tables_.events.rbegin()->second.event.at);
  way_back_.emplace_back([this] { tables_.events.erase(tables_.newest_event--); });
  tables_.events.emplace(++tables_.newest_event, std::move(row));
}

void MemoryStore::log_line(Key delivery, const SessionId& session, WallMs at) {
  const auto& tracked = tables_.deliveries.at(delivery.value());
  const auto line = tracked.history.size() - 1;
  const auto type = type_of_line(tracked.delivery.state, line == 0);
  log({{std::string{type}, at, tracked.delivery.to, session, {}},
       tracked.delivery.message.value(),
       delivery.value(),
       line});
}

Result<void> MemoryStore::on(const AddEvent& change) {
  log({change.event});
  return {};
}

std::string MemoryStore::tell(EventNumber number, const MemoryTables::EventRow& row) {
  const auto& event = row.event;
  const EventHead head{number, event.at, event.type, event.agent.value(), event.session.value()};
  std::optional<Message> message;
  if (const auto found = tables_.messages.find(row.message); found != tables_.messages.end()) message = found->second;
  if (event.type == kMessageExchanged) return tell_message(head, Key{row.message}, message);
  if (row.delivery == 0) {
    if (event.type != kSessionEnded) return tell_event(head, event.body);
    SessionSummary summary;
    if (const auto found = session(event.session)) {
      summary.duration = std::max(found->session.ended, event.at) - found->session.started;
      summary.work = found->work;
    }
    const auto sums = usage({.session = event.session.value()}).value();
    for (const auto& sum : sums) summary.tokens += sum.input + sum.output + sum.cache_read + sum.cache_write;
    return tell_event(head, with_summary(event.body, summary));
  }
  const auto party = [&](const std::string& name) {
    const auto agent = tables_.agents.find(name);
    const bool person = agent != tables_.agents.end() && agent->second.entity == protocol::EntityType::User;
    return person ? Party::Person : Party::Agent;
  };
  DeliveryNews news{.delivery = Key{row.delivery}, .message = message, .to = party(head.agent)};
  if (message) news.from = party(message->from.value());
  const auto found = tables_.deliveries.find(row.delivery);
  if (found == tables_.deliveries.end()) return tell_delivery(head, news);
  const auto& [delivery, history] = found->second;
  news.line = history[row.line];
  news.again = delivery.hold == Hold::Time && delivery.state == news.line->state;
  news.available_at = news.again ? delivery.available_at : 0;
  return tell_delivery(head, news);
}

Result<EventPage> MemoryStore::events(const EventQuery& query) {
  EventPage page;
  const auto& events = tables_.events;
  page.newest = tables_.newest_event;
  page.oldest = events.empty() ? 0 : events.begin()->first;
  const auto at_time = [&](WallMs time) {
    return std::ranges::find_if(events, [&](const auto& entry) { return entry.second.event.at >= time; });
  };
  auto first = events.upper_bound(query.after);
  auto end = query.until > 0 ? at_time(query.until) : events.end();
  if (query.before > 0)
    if (const auto border = events.lower_bound(query.before);
        border != events.end() && (end == events.end() || border->first < end->first))
      end = border;
  if (query.since > 0)
    if (const auto from = at_time(query.since);
        from == events.end() || first == events.end() || from->first > first->first)
      first = from;
  if (first == events.end() || (end != events.end() && end->first < first->first)) end = first;
  page.reached = end == events.end() ? page.newest : end->first - 1;
  std::size_t bytes = 0;
  const auto take = [&](const auto& entry) {
    const auto& [number, row] = entry;
    if (!query.filter.takes(row.event.type, row.event.agent.value(), row.event.session.value())) return;
    page.events.push_back({number, row.event.type, tell(number, row)});
    bytes += page.events.back().json.size();
  };
  const auto full = [&] { return page.events.size() >= query.limit || bytes >= kMaxAnswerBytes; };
  if (query.newest) {
    auto at = end;
    while (at != first && !full()) take(*--at);
    page.more = at != first;
    page.from = at == events.end() ? page.newest + 1 : at->first;
    std::ranges::reverse(page.events);
    page.reached = page.newest;
    return page;
  }
  for (auto at = first; at != end; ++at) {
    if (full()) {
      page.more = true;
      page.reached = at->first - 1;
      break;
    }
    take(*at);
  }
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
    return fail(QueryErrc::NotFound, "there is no session of that id; `agent-relay agents` lists who is here");
  const auto work = tables_.work.find(id.value());
  return SessionRow{found->second, work == tables_.work.end() ? Work{} : work->second};
}

}  // namespace relay::store
