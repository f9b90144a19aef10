#include "store/event_json.h"

#include "base/json.h"
#include "capture/redact.h"
#include "protocol/contract.h"
#include "protocol/limits.h"
#include "records/short_id.h"
#include "text/json_writer.h"
#include "text/utf8.h"

namespace relay::store {

using namespace records;
using protocol::DeliveryEventType;

namespace {

/// Redacts a JSON value part by part: a member's name may mark a secret, and an escape may hide the start of one.
std::string without_secrets(std::string_view raw) {
  auto value = parse_json(raw);
  if (!value) return "{}";
  capture::redact(*value);
  return json::serialize(*value);
}

/// Adds the common members around those of an object.
std::string add_common_fields(const EventHead& head, std::string_view members) {
  text::JsonWriter front;
  front.field("type", head.type).field("sessionId", head.session);
  text::JsonWriter back;
  back.field("_seq", static_cast<std::int64_t>(head.number)).field("_ts", head.at);
  back.field("_sessionId", head.session).field("_agentName", head.agent);
  auto event = front.take();
  event.back() = ',';
  if (members.size() > 2) {
    event += members.substr(1, members.size() - 2);
    event += ',';
  }
  event += std::string_view{back.take()}.substr(1);
  return event;
}

constexpr std::size_t kMaxSummaryBytes = 64 << 10;  // of the names of files

protocol::AgentKind kind_of(Party party, std::string_view name) {
  return party == Party::User || name == protocol::kUserName ? protocol::AgentKind::Human : protocol::AgentKind::Agent;
}

DeliveryEventType delivery_event_type(DeliveryState state) {
  switch (state) {
    case DeliveryState::Queued: return DeliveryEventType::Queued;
    case DeliveryState::Accepted: return DeliveryEventType::Accepted;
    case DeliveryState::Delivered: return DeliveryEventType::Delivered;
    case DeliveryState::Deferred: return DeliveryEventType::Deferred;
    case DeliveryState::Failed: return DeliveryEventType::Failed;
    case DeliveryState::Expired: return DeliveryEventType::Expired;
    case DeliveryState::Cancelled: return DeliveryEventType::Cancelled;
    case DeliveryState::InDoubt: return DeliveryEventType::InDoubt;
    case DeliveryState::Dead: return DeliveryEventType::Dead;
  }
  std::unreachable();
}

}  // namespace

std::string_view event_type_of(DeliveryState state, bool first) {
  // The first entry always reports the creation, whatever its state.
  return name_of(first ? DeliveryEventType::Created : delivery_event_type(state));
}

std::string encode_event(const EventHead& head, std::string_view body) {
  return add_common_fields(head, without_secrets(body));
}

std::string add_summary(std::string_view body, const SessionSummary& summary) {
  text::JsonWriter members;
  members.begin_object("summary").field("duration", summary.duration).field("itemCount", summary.stats.items);
  members.begin_array("filesModified");
  for (const auto& file : summary.stats.files) {
    if (members.size() > kMaxSummaryBytes) break;
    members.element(file);
  }
  members.end().field("commandsRun", summary.stats.commands);
  if (summary.tokens > 0) members.field("totalTokens", summary.tokens);
  if (summary.cost) members.raw("estimatedCost", json::serialize(json::value(*summary.cost)));
  auto all = std::string{body};
  all.back() = all.size() > 2 ? ',' : ' ';
  return all + members.take().substr(1);
}

void add_usage(SessionSummary& summary, const std::vector<UsageSum>& sums, const PriceOf& price_of) {
  for (const auto& sum : sums) summary.tokens += sum.input + sum.output + sum.cache_read + sum.cache_write;
  if (price_of && !sums.empty()) summary.cost = price_of(sums);
}

std::string encode_message(const EventHead& head, Key key, const std::optional<Message>& message) {
  text::JsonWriter members;
  members.field("from", head.agent).field("to", message ? message->to : "");
  const auto view = message ? protocol::parse_send(message->payload) : Result<protocol::SendView>{};
  bool whole = view && !view->body.empty() && view->body.size() <= protocol::kMaxEventTextBytes;
  if (whole) {
    members.raw("body", without_secrets(view->body));
  } else if (view && !view->body.empty()) {
    const auto text = parse_json(view->body);
    const auto* string = text ? text->if_string() : nullptr;
    const std::string_view long_text = string == nullptr ? std::string_view{} : std::string_view{*string};
    const auto safe = capture::redact(long_text);  // before truncation: half a secret is not recognized as one
    members.field("body", text::truncate_utf8(safe, protocol::kMaxEventTextBytes));
  } else {
    whole = message.has_value();  // the message has no body
    members.field("body", "");
  }
  members.field("kind", !message ? "" : message->kind.empty() ? "message" : std::string_view{message->kind});
  if (message) {
    members.optional("thread", message->thread);
    if (message->to.starts_with('#')) members.field("channel", message->to);
    members.optional("topic", message->topic.value());
  }
  members.field("id", short_id(key));
  if (!whole) members.field("truncated", true);
  return add_common_fields(head, members.take());
}

std::string encode_delivery(const EventHead& head, const DeliveryEventData& data) {
  protocol::DeliveryEvent event{.delivery_id = delivery_id(data.delivery),
                                .agent = protocol::identity_of(head.agent, kind_of(data.to, head.agent)),
                                .at = head.at,
                                .available_at = data.available_at,
                                .retryable = data.will_retry};
  event.type = protocol::parse_delivery_event_type(head.type).value_or(DeliveryEventType::Created);
  if (data.entry) {
    event.at = data.entry->at;
    event.state = name_of(data.entry->state);
    event.proof = name_of(data.entry->proof);
    event.reason = capture::redact(data.entry->reason);
    event.via = data.entry->via;
    event.evidence = capture::redact(data.entry->evidence);
  }
  // A delivery deferred until a condition holds may go at once when it does: not before now.
  if (event.type == DeliveryEventType::Deferred && event.available_at == 0) event.available_at = event.at;
  if (data.message) {
    const auto& message = *data.message;
    event.message = protocol::message_from({.id = short_id(message.key),
                                            .from = message.from.value(),
                                            .to = message.to,
                                            .payload = message.payload,
                                            .at = message.ts,
                                            .from_kind = kind_of(data.from, message.from.value())});
    event.message.text = capture::redact(event.message.text);
    if (!event.message.metadata.empty()) event.message.metadata = without_secrets(event.message.metadata);
    for (auto& one : event.message.attachments)
      if (!one.object.empty()) one.object = without_secrets(one.object);
  }
  event.message.truncated = !data.message;
  auto members = protocol::write_delivery_event(event);
  const auto type_end = members.find(',');  // the head has the type already, and it is the first member
  return add_common_fields(head, "{" + members.substr(type_end + 1));
}

}  // namespace relay::store
