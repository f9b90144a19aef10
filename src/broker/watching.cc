// Event subscriptions: everything stored after a key, without a gap and without a repeat, at the watcher's own pace.
#include <algorithm>

#include "base/format.h"
#include "broker/core.h"
#include "protocol/json_writer.h"
#include "records/short_id.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;

namespace {

constexpr std::size_t kWatchPageRows = 200;
constexpr Millis kWatchRetryDelay{1'000};

std::string event_of(const records::Message& message) {
  const auto view = protocol::parse_send(message.payload);
  protocol::JsonWriter payload;
  payload.field("type", "message.stored").field("key", message.key.value());
  payload.begin_object("message").field("id", records::short_id(message.key)).field("from", message.from.value());
  payload.field("to", message.to).raw("body", view && !view->body.empty() ? view->body : "\"\"");
  payload.optional("topic", message.topic.value()).optional("thread", message.thread);
  payload.field("kind", message.kind).field("timestamp", message.ts);
  return payload.take();
}

void write_identity(protocol::JsonWriter& out, std::string_view member, const std::string& name,
                    const AgentState* agent) {
  const bool person = agent != nullptr && agent->record.entity == protocol::EntityType::User;
  out.begin_object(member).field("id", name).field("name", name).field("handle", "@" + name);
  out.field("kind", person ? "human" : "agent").end();
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
    say(connection, MessageType::AgentEvent, event_of(row.message));
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
    if (text.empty()) text = event_of(message);
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

void Core::show_put_back(Key delivery, const AgentName& to, std::string_view reason) {
  if (watchers_.empty() || !anybody_watches(&Watch::deliveries)) return;
  protocol::JsonWriter payload;
  payload.field("type", "delivery.queued").field("deliveryId", records::delivery_id(delivery)).field("at", now_.wall);
  payload.field("state", "queued").field("proof", "stored").optional("reason", reason);
  write_identity(payload, "agent", to.value(), find_agent(to.value()));
  show_live(&Watch::deliveries, payload.take());
}

void Core::show_delivery(const records::ChangeDelivery& line, const News& news) {
  if (watchers_.empty() || !anybody_watches(&Watch::deliveries)) return;
  const auto& message = *news.message;
  const auto view = protocol::parse_send(message.payload.empty() ? std::string_view{"{}"} : message.payload);
  const bool created = line.state == records::DeliveryState::Queued;
  protocol::JsonWriter payload;
  payload.field("type", format("delivery.{}", created ? "created" : name_of(line.state)));
  payload.field("deliveryId", records::delivery_id(line.key)).field("at", line.at);
  payload.field("state", name_of(line.state)).field("proof", name_of(line.proof));
  payload.optional("reason", line.reason).optional("way", line.way).optional("evidence", line.evidence);
  if (line.available_at != 0) payload.field("availableAt", line.available_at);
  if (line.attempts) payload.field("retryable", line.hold == records::Hold::Time);
  write_identity(payload, "agent", news.to.value(), find_agent(news.to.value()));
  payload.begin_object("message").field("id", records::short_id(message.key)).field("createdAt", message.ts);
  write_identity(payload, "from", message.from.value(), find_agent(message.from.value()));
  payload.begin_object("target");
  if (message.to.starts_with('#'))
    payload.field("type", "channel").field("channel", message.to);
  else
    payload.field("type", "dm").field("agent", message.to);
  payload.end();
  payload.raw("text", view && !view->body.empty() ? view->body : "\"\"").optional("thread", message.thread).end();
  show_live(&Watch::deliveries, payload.take());
}

}  // namespace relay::broker
