#include "broker/event_queries.h"

#include <algorithm>

#include "broker/query_error.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;
using text::JsonWriter;

namespace {

constexpr std::size_t kDefaultEventRows = 100;

enum class Order : std::uint8_t { OldestFirst, NewestFirst };

/// As many events as fit a frame. A newest-first query omits the oldest ones.
std::string events_payload(const records::EventPage& page, Order order) {
  const bool newest = order == Order::NewestFirst;
  auto next_after = page.next_after, next_before = page.next_before;
  bool more = page.more;
  std::size_t first = 0;
  for (std::size_t i = page.events.size(), bytes = 0; newest && i-- > 0;) {
    bytes += page.events[i].json.size() + 1;
    if (bytes <= protocol::kMaxResponseBytes) continue;
    first = std::min(i + 1, page.events.size() - 1);
    next_before = page.events[first].number;
    more = true;
    break;
  }
  JsonWriter payload;
  payload.begin_array("events");
  for (std::size_t i = first; i < page.events.size(); ++i) {
    const auto& event = page.events[i];
    if (i > first && !newest && payload.size() + event.json.size() > protocol::kMaxResponseBytes) {
      more = true;
      next_after = page.events[i - 1].number;
      break;
    }
    payload.raw_element(event.json);
  }
  payload.end().field("nextAfter", next_after).field("more", more);
  if (newest) payload.field("nextBefore", next_before);
  return payload.field("oldest", page.oldest).field("newest", page.newest).take();
}

std::string usage_payload(const std::vector<records::UsageSum>& sums) {
  JsonWriter payload;
  bool cut = false;
  payload.begin_array("usage");
  for (const auto& sum : sums) {
    cut = payload.size() > protocol::kMaxResponseBytes;
    if (cut) break;
    payload.begin_element().field("agent", sum.agent.value()).field("model", sum.model).optional("thread", sum.thread);
    payload.field("session", sum.session.value()).field("answers", sum.answers);
    payload.field("input", sum.input).field("output", sum.output).field("cacheRead", sum.cache_read);
    payload.field("cacheWrite", sum.cache_write).field("reasoning", sum.reasoning);
    if (sum.cost) payload.field("cost", *sum.cost);
    payload.end();
  }
  payload.end();
  if (cut) payload.field("more", true);
  return payload.take();
}

}  // namespace

void EventQueries::on_events_query(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_events_query(envelope.payload);
  if (!wanted) return connections_.send_error(connection, ErrorCode::BadRequest, wanted.error().message());
  records::EventQuery query;
  query.after = static_cast<records::EventSeq>(wanted->after);
  query.before = static_cast<records::EventSeq>(wanted->before);
  query.since = wanted->since_ts;
  query.until = wanted->until_ts;
  query.filter = {wanted->filter.types, wanted->filter.agents, wanted->filter.sessions};
  query.limit = wanted->limit == 0 ? kDefaultEventRows : wanted->limit;
  query.newest = wanted->newest;
  const auto order = wanted->newest ? Order::NewestFirst : Order::OldestFirst;
  queries_.for_client(connection, envelope.id, MessageType::EventsResponse, std::move(query),
                      [this, order](auto& client, const ClientRequest& request, Result<records::EventPage> page) {
                        if (page) subscriptions_.raise_newest(page->newest);
                        requests_.respond(client, request,
                                          page ? events_payload(*page, order) : query_error_payload(page.error()));
                      });
}

void EventQueries::on_usage_query(ConnectionState& connection, const protocol::Envelope& envelope) {
  auto wanted = protocol::parse_usage_query(envelope.payload);
  if (!wanted) return connections_.send_error(connection, ErrorCode::BadRequest, wanted.error().message());
  queries_.for_client(connection, envelope.id, MessageType::UsageResponse,
                      records::UsageQuery{.since = wanted->since_ts,
                                          .until = wanted->until_ts,
                                          .agent = std::move(wanted->agent),
                                          .session = std::move(wanted->session)},
                      [this](auto& client, const ClientRequest& request, const auto& sums) {
                        requests_.respond(client, request,
                                          sums ? usage_payload(*sums) : query_error_payload(sums.error()));
                      });
}

void EventQueries::on_session_query(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_session_query(envelope.payload);
  if (!wanted) return connections_.send_error(connection, ErrorCode::BadRequest, wanted.error().message());
  queries_.for_client(connection, envelope.id, MessageType::SessionResponse, records::SessionQuery{SessionId{*wanted}},
                      [this](auto& client, const ClientRequest& request, const auto& row) {
                        requests_.respond(client, request,
                                          row ? session_payload(*row) : query_error_payload(row.error()));
                      });
}

std::string EventQueries::session_payload(const records::SessionRow& row) const {
  const auto& session = row.session;
  const AgentState* agent = agents_.find(session.agent.value());
  const bool current = agent != nullptr && agent->session && agent->session->id == session.id;
  const bool connected = current && agent->connected();
  JsonWriter payload;
  payload.field("id", session.id.value()).field("agent", session.agent.value()).field("started", session.started);
  payload.field("lastSeen", connected ? context_.wall() : current ? agent->session->last_seen : session.last_seen);
  if (session.ended != 0) payload.field("ended", session.ended);
  payload.field("connected", connected);
  payload.field("itemCount", row.stats.items).field("commandsRun", row.stats.commands);
  payload.begin_array("filesModified");
  for (const auto& file : row.stats.files) {
    if (payload.size() > protocol::kMaxResponseBytes) break;
    payload.element(file);
  }
  payload.end();
  return payload.take();
}

}  // namespace relay::broker
