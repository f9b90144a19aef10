#include "broker/message_queries.h"

#include <algorithm>

#include "base/format.h"
#include "broker/lanes.h"
#include "broker/query_error.h"
#include "protocol/contract.h"
#include "records/short_id.h"
#include "text/utf8.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;
using records::DeliveryState;
using text::JsonWriter;

namespace {

/// A response shorter than this has no row yet: the first one is always included.
constexpr std::size_t kEmptyListBytes = 64;

std::size_t row_limit(std::size_t requested, std::size_t default_rows) {
  return requested == 0 ? default_rows : std::min(requested, protocol::kMaxQueryRows);
}

enum class Listing : std::uint8_t { Inbox, Messages };

/// The members of `payload_meta` that readers need.
void write_meta(JsonWriter& out, const records::Message& message) {
  const auto meta = protocol::parse_send_meta(message.payload_meta);
  if (!meta) return;
  out.optional("replyTo", meta->reply_to);
  if (meta->importance) out.field("importance", *meta->importance);
  if (meta->requires_ack) out.field("requiresAck", true);
}

void write_attachments(JsonWriter& out, const records::Message& message) {
  if (!message.payload.contains("\"attachments\"")) return;
  const auto parts = protocol::message_from({.id = {}, .from = {}, .to = {}, .payload = message.payload});
  if (parts.attachments.empty()) return;
  out.begin_array("attachments");
  for (const auto& file : parts.attachments) out.raw_element(file.object);
  out.end();
}

/// A message in a listing. `body` and `data` are copied as JSON.
void write_message(JsonWriter& out, const records::MessageRow& row, Listing listing) {
  const records::Message& message = row.message;
  const auto view = protocol::parse_send(message.payload);
  const bool channel = message.to.starts_with('#') || message.to.starts_with("dm:");
  out.begin_element();
  out.field("id", records::short_id(message.key)).field("key", message.key.value());
  out.field("from", message.from.value());
  out.field("to", message.to);
  if (message.as_user()) out.field("as", protocol::kAsUser);
  out.raw("body", view && !view->body.empty() ? view->body : "\"\"");
  if (channel) out.field("channel", message.to);
  out.optional("thread", message.thread);
  write_meta(out, message);
  out.optional("topic", message.topic.value());
  out.field("kind", message.kind);
  out.field("timestamp", message.ts);
  out.field("status", row.deliveries == 0 ? "stored" : records::name_of(row.state));
  write_attachments(out, message);
  if (listing == Listing::Messages) {
    out.field("isBroadcast", message.to == protocol::kEveryone);
    out.field("replyCount", row.reply_count);
    if (view && !view->data.empty()) out.raw("data", view->data);
  }
  out.end();
}

constexpr std::size_t kMaxListedBodyBytes = 512;

std::optional<DeliveryState> parse_dead_state(std::string_view name) {
  for (const auto state :
       {DeliveryState::Dead, DeliveryState::Failed, DeliveryState::Expired, DeliveryState::InDoubt}) {
    if (name_of(state) == name) return state;
  }
  return std::nullopt;
}

std::string messages_payload(const Result<std::vector<records::MessageRow>>& rows, Listing listing) {
  JsonWriter payload;
  if (!rows) write_query_error(payload, rows.error());
  payload.begin_array("messages");
  bool cut = false;
  if (rows) {
    for (const auto& row : *rows) {
      cut =
          payload.size() + row.message.payload.size() > protocol::kMaxResponseBytes && payload.size() > kEmptyListBytes;
      if (cut) break;
      write_message(payload, row, listing);
    }
  }
  payload.end();
  if (cut) payload.field("more", true);  // the rest did not fit a frame
  return payload.take();
}

std::string dead_payload(const Result<std::vector<records::DeliveryRow>>& rows, std::size_t limit) {
  JsonWriter payload;
  if (!rows) write_query_error(payload, rows.error());
  payload.begin_array("deliveries");
  std::size_t listed = 0, read_bytes = 0;
  bool more = false;
  for (const auto& row : rows ? *rows : std::vector<records::DeliveryRow>{}) {
    more = listed == limit || payload.size() > protocol::kMaxResponseBytes;
    if (more) break;
    ++listed;
    read_bytes += row.message.payload.size();
    const auto view = protocol::parse_send(row.message.payload);
    const auto body = view ? text::decode_string(view->body.empty() ? "\"\"" : view->body) : std::string{};
    payload.begin_element()
        .field("deliveryId", records::delivery_id(row.delivery.key))
        .field("id", records::short_id(row.message.key))
        .field("from", row.message.from.value())
        .field("to", row.delivery.to.value())
        .field("state", name_of(row.delivery.state))
        .field("reason", row.last.reason)
        .field("at", row.last.at)
        .field("attempts", row.delivery.attempts)
        .field("key", row.delivery.key.value())
        .field("body", text::truncate_utf8(body, kMaxListedBodyBytes))
        .end();
  }
  payload.end();
  // The store stops early at long messages, so a heavy page may not be the last one.
  if (more || read_bytes > protocol::kMaxResponseBytes) payload.field("more", true);
  return payload.take();
}

}  // namespace

void MessageQueries::on_inbox(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_inbox(envelope.payload);
  if (!wanted) return connections_.send_error(connection, ErrorCode::BadRequest, wanted.error().message());
  records::MessageQuery query;
  query.limit = row_limit(wanted->limit, protocol::kDefaultInboxRows);
  query.delivered_to = wanted->agent.empty() ? connection.agent->value() : wanted->agent;
  query.from = wanted->from;
  query.channel = wanted->channel;
  query.topic = wanted->topic;
  query.unread_only = wanted->unread_only;
  query.before = Key{wanted->before_key};
  queries_.for_client(connection, envelope.id, MessageType::InboxResponse, std::move(query),
                      [this](auto& client, const ClientRequest& request, const auto& rows) {
                        requests_.respond(client, request, messages_payload(rows, Listing::Inbox));
                      });
}

void MessageQueries::on_messages_query(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_messages_query(envelope.payload);
  if (!wanted) return connections_.send_error(connection, ErrorCode::BadRequest, wanted.error().message());
  records::MessageQuery query;
  query.limit = row_limit(wanted->limit, protocol::kDefaultMessageRows);
  query.since = wanted->since;
  query.from = wanted->from;
  query.to = wanted->to;
  query.thread = wanted->thread;
  query.topic = wanted->topic;
  query.ascending = wanted->ascending;
  query.id = wanted->id;
  query.search = wanted->search;
  query.after = Key{wanted->after_key};
  query.before = Key{wanted->before_key};
  queries_.for_client(connection, envelope.id, MessageType::MessagesResponse, std::move(query),
                      [this](auto& client, const ClientRequest& request, const auto& rows) {
                        requests_.respond(client, request, messages_payload(rows, Listing::Messages));
                      });
}

void MessageQueries::on_dead(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_dead(envelope.payload);
  if (!wanted) return connections_.send_error(connection, ErrorCode::BadRequest, wanted.error().message());
  const std::size_t limit = wanted->limit == 0 ? protocol::kDefaultMessageRows : wanted->limit;
  records::DeliveryQuery query;
  query.to = wanted->agent;
  query.from = wanted->from;
  query.states = parse_dead_states(wanted->states);
  query.before = Key{wanted->before_key};
  query.limit = limit + 1;  // one more, to detect whether there are more
  queries_.for_client(connection, envelope.id, MessageType::DeadResponse, std::move(query),
                      [this, limit](auto& client, const ClientRequest& request, const auto& rows) {
                        requests_.respond(client, request, dead_payload(rows, limit));
                      });
}

void MessageQueries::on_trace(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_trace(envelope.payload);
  if (!wanted) return connections_.send_error(connection, ErrorCode::BadRequest, wanted.error().message());
  queries_.for_client(connection, envelope.id, MessageType::TraceResponse, records::TraceQuery{*wanted},
                      [this](auto& client, const ClientRequest& request, const auto& trace) {
                        requests_.respond(client, request,
                                          trace ? trace_payload(*trace) : query_error_payload(trace.error()));
                      });
}

std::string MessageQueries::trace_payload(const records::Trace& trace) const {
  JsonWriter payload;
  const auto& message = trace.message;
  const auto view = protocol::parse_send(message.payload);
  payload.begin_object("message").field("id", records::short_id(message.key)).field("from", message.from.value());
  payload.field("to", message.to)
      .field("timestamp", message.ts)
      .field("kind", message.kind)
      .field("as", message.as_user() ? protocol::kAsUser : protocol::kAsPeer)
      .field("senderId", message.id);
  payload.raw("body",
              view && !view->body.empty() && view->body.size() < protocol::kMaxResponseBytes / 2 ? view->body : "\"\"");
  payload.optional("thread", message.thread).optional("topic", message.topic.value());
  write_meta(payload, message);
  payload.end();
  payload.begin_array("deliveries");
  bool cut = false;
  for (const auto& entry : trace.deliveries) {
    cut = payload.size() > protocol::kMaxResponseBytes;
    if (cut) break;
    payload.begin_element()
        .field("deliveryId", records::delivery_id(entry.delivery.key))
        .field("to", entry.delivery.to.value());
    payload.field("state", records::name_of(entry.delivery.state))
        .field("proof", records::name_of(entry.delivery.proof));
    write_delivery(payload, entry);
    payload.begin_array("history");
    for (const auto& event : entry.history) {
      payload.begin_element().field("at", event.at).field("state", records::name_of(event.state));
      payload.field("proof", records::name_of(event.proof)).optional("reason", event.reason);
      payload.optional("via", event.via).optional("evidence", event.evidence).end();
    }
    payload.end().end();
  }
  payload.end();
  if (cut) payload.field("more", true);
  return payload.take();
}

void MessageQueries::write_delivery(JsonWriter& out, const records::TraceEntry& entry) const {
  const auto& delivery = entry.delivery;
  out.field("seq", delivery.seq.value()).field("expiresAt", delivery.expires_at);
  out.field("mode", name_of(delivery.lane.mode)).field("lane", lane_code(delivery.lane));
  out.field("priority", name_of(delivery.lane.priority));
  if (delivery.attempts > 0) out.field("attempts", delivery.attempts);
  if (records::is_final(delivery.state)) return;
  if (delivery.hold == records::Hold::Time) out.field("availableAt", delivery.available_at);
  const AgentState* to = agents_.find(delivery.to.value());
  if (to != nullptr && !to->connected()) out.field("offlineSince", to->offline_since());
  out.field("pendingReason", pending_reason(to, delivery, entry.history.empty() ? "" : entry.history.back().reason));
}

std::vector<DeliveryState> parse_dead_states(const std::vector<std::string>& names) {
  std::vector<DeliveryState> states;
  for (const auto& name : names) {
    if (const auto state = parse_dead_state(name)) states.push_back(*state);
  }
  return states;
}

}  // namespace relay::broker
