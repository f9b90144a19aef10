// The log of events: who follows it, and questions about it and what was counted beside it.
#include <algorithm>

#include "broker/core.h"
#include "broker/query_error.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;
using text::JsonWriter;

namespace {

constexpr std::size_t kWatchPageRows = 200;
constexpr std::size_t kDefaultEventRows = 100;
constexpr Millis kWatchRetryDelay{1'000};
constexpr std::string_view kLogs = "log";

records::EventFilter filter_of(const protocol::EventFilter& wanted) {
  return {wanted.types, wanted.agents, wanted.sessions};
}

std::string told(std::string_view event) { return JsonWriter{}.raw("event", event).take(); }

}  // namespace

void Core::on_events_subscribe(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto request = protocol::parse_events_subscribe(envelope.payload);
  if (!request) return error(connection, ErrorCode::BadRequest, request.error().message());
  const auto& types = request->filter.types;
  const bool from_now = request->since < 0 && request->since_ts == 0;
  const auto since = static_cast<records::EventSeq>(std::max<std::int64_t>(request->since, 0));
  connection.watch = EventSubscription{
      .filter = filter_of(request->filter),
      .since = request->since_ts,
      .cursor = from_now ? newest_event_ : std::min(since, newest_event_),  // a number beyond is of another log
      .logs = types.empty() || std::ranges::find(types, kLogs) != types.end(),
      .request_id = std::string{envelope.id}};
  watchers_.insert(connection.id);
  connection.page_is_old = connection.events_page.has_value();
  send_next_page(connection);
}

void Core::on_events_unsubscribe(ConnectionState& connection) {
  connection.watch.reset();
  watchers_.erase(connection.id);
  connection.page_is_old = connection.events_page.has_value();
}

/// Asks for what was stored behind its cursor, when it reads and there is something.
void Core::send_next_page(ConnectionState& connection) {
  EventSubscription& watch = *connection.watch;
  if (connection.events_page || watch.cursor >= newest_event_ || connection.waiting_bytes >= limits_.max_waiting_bytes)
    return;
  const QueryId id = add_question(connection, watch.request_id, MessageType::AgentEvent);
  connection.events_page = id;
  records::EventQuery query;
  query.after = watch.cursor;
  query.since = watch.since;
  query.filter = watch.filter;
  query.limit = kWatchPageRows;
  emit(QueryEvents{id, std::move(query)});
}

void Core::notify_subscribers() {
  for (const ConnectionId id : watchers_) {
    if (ConnectionState* connection = find(id); connection != nullptr && connection->watch) send_next_page(*connection);
  }
}

void Core::events(QueryId id, Result<records::EventPage> page) {
  const auto asked = take_asked(id);
  if (page) newest_event_ = std::max(newest_event_, page->newest);  // a page may know of a commit before we hear of it
  ConnectionState* connection = asked ? find(asked->connection) : nullptr;
  if (connection == nullptr || connection->phase != Phase::Active) return;
  if (asked->answer == MessageType::EventsResponse) return answer_events(*connection, *asked, page);
  if (!page) {  // the page stays, so that nothing is asked before the timer
    timers_.arm(now_.steady + kWatchRetryDelay, {.kind = TimerKind::WatchRetry, .connection = connection->id.value()});
    return error(*connection, ErrorCode::Internal, page.error().message());
  }
  connection->events_page.reset();
  if (!connection->watch) return;
  if (std::exchange(connection->page_is_old, false)) return send_next_page(*connection);
  EventSubscription& watch = *connection->watch;
  for (const auto& event : page->events) send_new(*connection, MessageType::AgentEvent, told(event.json));
  watch.cursor = std::max(watch.cursor, page->next_after);
  send_next_page(*connection);
}

/// What is not kept: a watcher that cannot keep up misses some.
void Core::send_log(const std::string& event) {
  for (const ConnectionId id : watchers_) {
    ConnectionState* watcher = find(id);
    if (watcher != nullptr && watcher->watch->logs && watcher->waiting_bytes < limits_.max_waiting_bytes)
      send_new(*watcher, MessageType::AgentEvent, told(event));
  }
}

void Core::on_events_query(ConnectionState& connection, const protocol::Envelope& envelope) {
  auto wanted = protocol::parse_events_query(envelope.payload);
  if (!wanted) return error(connection, ErrorCode::BadRequest, wanted.error().message());
  const auto id = ask(connection, envelope.id, MessageType::EventsResponse);
  if (!id) return;
  records::EventQuery query;
  query.after = static_cast<records::EventSeq>(wanted->after);
  query.before = static_cast<records::EventSeq>(wanted->before);
  query.since = wanted->since_ts;
  query.until = wanted->until_ts;
  query.filter = filter_of(wanted->filter);
  query.limit = wanted->limit == 0 ? kDefaultEventRows : wanted->limit;
  query.newest = asked_[*id].newest = wanted->newest;
  emit(QueryEvents{*id, std::move(query)});
}

void Core::answer_events(ConnectionState& connection, const PendingQuery& asked,
                         const Result<records::EventPage>& page) {
  JsonWriter payload;
  if (!page) {
    write_query_error(payload, page.error());
    return respond(connection, asked.answer, asked.request_id, payload.take());
  }
  auto reached = page->next_after, from = page->next_before;
  bool more = page->more;
  std::size_t first = 0;  // of the newest, those that do not fit are the older ones
  for (std::size_t i = page->events.size(), bytes = 0; asked.newest && i-- > 0;) {
    bytes += page->events[i].json.size() + 1;
    if (bytes <= protocol::kMaxResponseBytes) continue;
    first = std::min(i + 1, page->events.size() - 1);
    from = page->events[first].number;
    more = true;
    break;
  }
  payload.begin_array("events");
  for (std::size_t i = first; i < page->events.size(); ++i) {
    const auto& event = page->events[i];
    if (i > first && !asked.newest && payload.size() + event.json.size() > protocol::kMaxResponseBytes) {
      more = true;
      reached = page->events[i - 1].number;
      break;
    }
    payload.raw_element(event.json);
  }
  payload.end().field("nextAfter", reached).field("more", more);
  if (asked.newest) payload.field("nextBefore", from);
  payload.field("oldest", page->oldest).field("newest", page->newest);
  respond(connection, asked.answer, asked.request_id, payload.take());
}

void Core::on_usage_query(ConnectionState& connection, const protocol::Envelope& envelope) {
  auto wanted = protocol::parse_usage_query(envelope.payload);
  if (!wanted) return error(connection, ErrorCode::BadRequest, wanted.error().message());
  const auto id = ask(connection, envelope.id, MessageType::UsageResponse);
  if (!id) return;
  emit(QueryUsage{*id,
                  {.since = wanted->since_ts,
                   .until = wanted->until_ts,
                   .agent = std::move(wanted->agent),
                   .session = std::move(wanted->session)}});
}

void Core::usage(QueryId id, Result<std::vector<records::UsageSum>> sums) {
  const auto asked = take_asked(id);
  ConnectionState* connection = asked ? find(asked->connection) : nullptr;
  if (connection == nullptr || connection->phase != Phase::Active) return;
  JsonWriter payload;
  if (!sums) {
    write_query_error(payload, sums.error());
    return respond(*connection, asked->answer, asked->request_id, payload.take());
  }
  bool cut = false;
  payload.begin_array("usage");
  for (const auto& sum : *sums) {
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
  respond(*connection, asked->answer, asked->request_id, payload.take());
}

void Core::on_session_query(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_session_query(envelope.payload);
  if (!wanted) return error(connection, ErrorCode::BadRequest, wanted.error().message());
  if (const auto id = ask(connection, envelope.id, MessageType::SessionResponse))
    emit(QuerySession{*id, SessionId{*wanted}});
}

void Core::session(QueryId id, Result<records::SessionRow> row) {
  const auto asked = take_asked(id);
  ConnectionState* connection = asked ? find(asked->connection) : nullptr;
  if (connection == nullptr || connection->phase != Phase::Active) return;
  JsonWriter payload;
  if (!row) {
    write_query_error(payload, row.error());
    return respond(*connection, asked->answer, asked->request_id, payload.take());
  }
  const auto& session = row->session;
  const AgentState* agent = find_agent(session.agent.value());
  const bool current = agent != nullptr && agent->session && agent->session->id == session.id;
  payload.field("id", session.id.value()).field("agent", session.agent.value()).field("started", session.started);
  const bool connected = current && agent->connected();
  payload.field("lastSeen", connected ? now_.wall : current ? agent->session->last_seen : session.last_seen);
  if (session.ended != 0) payload.field("ended", session.ended);
  payload.field("connected", connected);
  payload.field("itemCount", row->work.items).field("commandsRun", row->work.commands);
  payload.begin_array("filesModified");
  for (const auto& file : row->work.files) {
    if (payload.size() > protocol::kMaxResponseBytes) break;
    payload.element(file);
  }
  payload.end();
  respond(*connection, asked->answer, asked->request_id, payload.take());
}

}  // namespace relay::broker
