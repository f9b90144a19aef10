#include "broker/event_subscriptions.h"

#include "text/json_writer.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;
using text::JsonWriter;

namespace {

constexpr std::size_t kSubscriptionPageRows = 200;
constexpr Millis kPageRetryDelay{1'000};
constexpr std::string_view kLogs = "log";

std::string event_payload(std::string_view event) { return JsonWriter{}.raw("event", event).take(); }

}  // namespace

void EventSubscriptions::on_subscribe(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto request = protocol::parse_events_subscribe(envelope.payload);
  if (!request) return connections_.send_error(connection, ErrorCode::BadRequest, request.error().message());
  const auto& types = request->filter.types;
  const bool from_now = request->since < 0 && request->since_ts == 0;
  const auto since = static_cast<records::EventSeq>(std::max<std::int64_t>(request->since, 0));
  SubscriptionState& state = *connection.events;
  state.subscription = EventSubscription{
      .filter = {types, request->filter.agents, request->filter.sessions},
      .since = request->since_ts,
      .cursor = from_now ? newest_ : std::min(since, newest_),  // a later number belongs to another log
      .logs = types.empty() || std::ranges::find(types, kLogs) != types.end(),
      .request_id = std::string{envelope.id}};
  subscribers_.insert(connection.id);
  state.page_is_old = state.loading;
  send_next_page(connection);
}

void EventSubscriptions::on_unsubscribe(ConnectionState& connection, const protocol::Envelope&) {
  connection.events->subscription.reset();
  subscribers_.erase(connection.id);
  connection.events->page_is_old = connection.events->loading;
}

/// Requests the events after the cursor if there are any and the connection has room.
void EventSubscriptions::send_next_page(ConnectionState& connection) {
  SubscriptionState& state = *connection.events;
  const EventSubscription& subscription = *state.subscription;
  if (state.loading || subscription.cursor >= newest_ || !connections_.has_room(connection)) return;
  state.loading = true;
  records::EventQuery query;
  query.after = subscription.cursor;
  query.since = subscription.since;
  query.filter = subscription.filter;
  query.limit = kSubscriptionPageRows;
  const auto request = requests_.start(connection, subscription.request_id, MessageType::AgentEvent);
  queries_.run(std::move(query), [this, request](Result<records::EventPage> page) {
    ConnectionState* client = requests_.finish(request);
    if (page) raise_newest(page->newest);
    if (client != nullptr) on_page(*client, page);
  });
}

void EventSubscriptions::on_page(ConnectionState& connection, const Result<records::EventPage>& page) {
  SubscriptionState& state = *connection.events;
  if (!page) {  // `loading` stays set, so that nothing is requested before the timer
    context_.arm(context_.steady() + kPageRetryDelay,
                 {.kind = TimerKind::SubscriptionRetry, .connection = connection.id->value()});
    return connections_.send_error(connection, ErrorCode::Internal, page.error().message());
  }
  state.loading = false;
  if (!state.subscription) return;
  if (std::exchange(state.page_is_old, false)) return send_next_page(connection);
  for (const auto& event : page->events)
    connections_.send_new(connection, MessageType::AgentEvent, event_payload(event.json));
  state.subscription->cursor = std::max(state.subscription->cursor, page->next_after);
  send_next_page(connection);
}

void EventSubscriptions::on_newest_event(records::EventSeq newest) {
  raise_newest(newest);
  for (const ConnectionId id : subscribers_) {
    if (ConnectionState* connection = connections_.find(id)) on_written(*connection);
  }
}

void EventSubscriptions::on_written(ConnectionState& connection) {
  if (connection.events->subscription) send_next_page(connection);
}

void EventSubscriptions::on_retry(ConnectionState& connection) {
  connection.events->loading = false;
  connection.events->page_is_old = false;
  on_written(connection);
}

/// A subscriber without room misses the line.
void EventSubscriptions::on_log(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto line = protocol::parse_log(envelope.payload);
  if (!line) return connections_.send_error(connection, ErrorCode::BadRequest, line.error().message());
  if (subscribers_.empty()) return;
  JsonWriter event;
  event.field("type", kLogs).field("agent", connection.agent->value()).field("data", line->data);
  event.field("timestamp", line->timestamp != 0 ? line->timestamp : context_.wall());
  const auto payload = event_payload(event.take());
  for (const ConnectionId id : subscribers_) {
    ConnectionState* subscriber = connections_.find(id);
    if (subscriber != nullptr && subscriber->events->subscription->logs && connections_.has_room(*subscriber))
      connections_.send_new(*subscriber, MessageType::AgentEvent, payload);
  }
}

}  // namespace relay::broker
