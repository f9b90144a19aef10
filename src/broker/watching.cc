// Event subscriptions: everything stored after a key, without a gap and without a repeat, at the watcher's own pace.
#include <algorithm>

#include "base/format.h"
#include "broker/core.h"
#include "protocol/json_writer.h"
#include "records/short_id.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;
using records::DeliveryState;

namespace {

constexpr std::size_t kWatchPageRows = 200;
constexpr Millis kWatchRetryDelay{1'000};

std::string stored_event(const records::Message& message) {
  const auto view = protocol::parse_send(message.payload);
  protocol::JsonWriter payload;
  payload.field("type", "message.stored").field("key", message.key.value());
  payload.begin_object("message").field("id", records::short_id(message.key)).field("from", message.from.value());
  payload.field("to", message.to).raw("body", view && !view->body.empty() ? view->body : "\"\"");
  payload.optional("topic", message.topic.value()).optional("thread", message.thread);
  payload.field("kind", message.kind).field("timestamp", message.ts);
  return payload.take();
}

protocol::AgentKind kind_of(const AgentState* agent) {
  const bool person = agent != nullptr && agent->record.entity == protocol::EntityType::User;
  return person ? protocol::AgentKind::Human : protocol::AgentKind::Agent;
}

protocol::DeliveryEventType type_of(DeliveryState state) {
  switch (state) {
    case DeliveryState::Queued: return protocol::DeliveryEventType::Created;
    case DeliveryState::Accepted: return protocol::DeliveryEventType::Accepted;
    case DeliveryState::Delivered: return protocol::DeliveryEventType::Delivered;
    case DeliveryState::Deferred: return protocol::DeliveryEventType::Deferred;
    case DeliveryState::Failed: return protocol::DeliveryEventType::Failed;
    case DeliveryState::Expired: return protocol::DeliveryEventType::Expired;
    case DeliveryState::Cancelled: return protocol::DeliveryEventType::Cancelled;
    case DeliveryState::InDoubt: return protocol::DeliveryEventType::InDoubt;
    case DeliveryState::Dead: return protocol::DeliveryEventType::Dead;
  }
  std::unreachable();
}

bool wants(const std::vector<std::string>& types, std::string_view type) {
  return types.empty() || std::ranges::find(types, type) != types.end();
}

}  // namespace

void Core::on_events_subscribe(Connection& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_events_subscribe(envelope.payload);
  if (!wanted) return error(connection, ErrorCode::BadRequest, wanted.error().message());
  Watch watch;
  watch.messages = wants(wanted->types, "message") || wants(wanted->types, "message.stored");
  watch.logs = wants(wanted->types, "log");
  watch.deliveries = wants(wanted->types, "delivery");
  watch.loops = wants(wanted->types, "loop") || wants(wanted->types, "loop.tripped");
  watch.request_id = envelope.id;
  watch.live = wanted->since_key < 0;
  watch.cursor = watch.live ? newest_shown_ : Key{wanted->since_key};
  connection.watch = std::move(watch);
  watchers_.insert(connection.id);
  if (!connection.watch->live) catch_up(connection);
}

void Core::catch_up(Connection& connection) {
  Watch& watch = *connection.watch;
  if (watch.page || !watch.messages || connection.waiting_bytes >= limits_.max_waiting_bytes) return;
  const QueryId id = add_question(connection, watch.request_id, MessageType::AgentEvent);
  asked_[id].watch = true;
  watch.page = id;
  watch.missed = false;
  records::MessageQuery query;
  query.limit = kWatchPageRows;
  query.ascending = true;
  query.after = watch.cursor;
  emit(AskMessages{id, std::move(query)});
}

void Core::watch_page(Connection& connection, QueryId id, Result<std::vector<records::MessageRow>> rows) {
  if (!connection.watch || connection.watch->page != id) return;  // of a subscription that was replaced
  Watch& watch = *connection.watch;
  if (!rows) {
    timers_.arm(now_.steady + kWatchRetryDelay, {.kind = TimerKind::WatchRetry, .connection = connection.id.value()});
    return error(connection, ErrorCode::Internal, rows.error().message());
  }
  watch.page.reset();
  for (const auto& row : *rows) {
    watch.cursor = row.message.key;
    say(connection, MessageType::AgentEvent, stored_event(row.message));
  }
  if (rows->size() < kWatchPageRows && !watch.missed)
    watch.live = true;
  else
    catch_up(connection);
}

void Core::show_watchers(const records::Message& message) {
  if (watchers_.empty()) return;
  std::string text;
  for (const ConnectionId id : watchers_) {
    Connection* connection = find(id);
    if (connection == nullptr || !connection->watch->messages) continue;
    Watch& watch = *connection->watch;
    if (message.key <= watch.cursor) continue;  // a page was read between its commit and the news of it
    if (watch.live && connection->waiting_bytes >= limits_.max_waiting_bytes) watch.live = false;
    if (!watch.live) {
      watch.missed = true;
      continue;
    }
    if (text.empty()) text = stored_event(message);
    watch.cursor = message.key;
    say(*connection, MessageType::AgentEvent, text);
  }
}

bool Core::anybody_watches(bool Watch::* wanted) {
  return std::ranges::any_of(watchers_, [&](ConnectionId id) {
    const Connection* connection = find(id);
    return connection != nullptr && (*connection->watch).*wanted;
  });
}

/// What is not kept: a watcher that cannot keep up misses some.
void Core::show_live(bool Watch::* wanted, const std::string& payload) {
  for (const ConnectionId id : watchers_) {
    Connection* watcher = find(id);
    if (watcher != nullptr && (*watcher->watch).*wanted && watcher->waiting_bytes < limits_.max_waiting_bytes)
      say(*watcher, MessageType::AgentEvent, payload);
  }
}

protocol::DeliveryEvent Core::event_of(const records::ChangeDelivery& line, const News& news) {
  const auto& message = *news.message;
  protocol::DeliveryEvent event{
      .type = type_of(line.state),
      .delivery_id = records::delivery_id(line.key),
      .message = protocol::message_from({.id = records::short_id(message.key),
                                         .from = message.from.value(),
                                         .to = message.to,
                                         .payload = message.payload.empty() ? std::string_view{"{}"} : message.payload,
                                         .at = message.ts,
                                         .from_kind = kind_of(find_agent(message.from.value()))}),
      .agent = protocol::identity_of(news.to.value(), kind_of(find_agent(news.to.value()))),
      .at = line.at,
      .state = std::string{name_of(line.state)},
      .proof = std::string{name_of(line.proof)},
      .reason = line.reason,
      .available_at = line.available_at,
      .retryable = line.attempts && line.hold == records::Hold::Time,
      .way = line.way,
      .evidence = line.evidence};
  event.message.truncated = message.payload.empty();  // the text is not at hand
  return event;
}

void Core::show_put_back(const records::ChangeDelivery& line, const News& news) {
  if (watchers_.empty() || !anybody_watches(&Watch::deliveries)) return;
  auto event = event_of(line, news);
  event.type = protocol::DeliveryEventType::Queued;
  show_live(&Watch::deliveries, protocol::write_delivery_event(event));
}

void Core::show_delivery(const records::ChangeDelivery& line, const News& news) {
  if (watchers_.empty() || !anybody_watches(&Watch::deliveries)) return;
  show_live(&Watch::deliveries, protocol::write_delivery_event(event_of(line, news)));
}

}  // namespace relay::broker
