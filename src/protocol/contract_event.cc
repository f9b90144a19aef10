#include <array>
#include <utility>

#include "protocol/contract.h"
#include "protocol/contract_json.h"
#include "protocol/errors.h"
#include "protocol/limits.h"
#include "text/utf8.h"

namespace relay::protocol {
namespace {

constexpr std::array kTypes = {DeliveryEventType::Created,   DeliveryEventType::Queued,    DeliveryEventType::Accepted,
                               DeliveryEventType::Delivered, DeliveryEventType::Deferred,  DeliveryEventType::Failed,
                               DeliveryEventType::Expired,   DeliveryEventType::Cancelled, DeliveryEventType::InDoubt,
                               DeliveryEventType::Dead};

/// Is the object short enough for an event and not nested too deeply at its position there?
bool fits(std::string_view object, std::size_t levels_around) {
  return object.size() <= kMaxEventPartBytes && text::check_object(object, levels_around);
}

/// The message as it appears in an event.
RelayMessage abridged(const RelayMessage& whole) {
  constexpr std::size_t kAroundMetadata = 5;    // the frame, its payload, the list of events, the event, the message
  constexpr std::size_t kAroundAttachment = 6;  // and the array
  const bool metadata_fits = whole.metadata.empty() || fits(whole.metadata, kAroundMetadata);
  RelayMessage result{.id = whole.id,
                      .workspace_id = whole.workspace_id,
                      .target = whole.target,
                      .from = whole.from,
                      .text = std::string{text::truncate_utf8(whole.text, kMaxEventTextBytes)},
                      .attachments = whole.attachments,
                      .mentions = whole.mentions,
                      .thread = whole.thread,
                      .metadata = metadata_fits ? whole.metadata : std::string{},
                      .created_at = whole.created_at};
  result.truncated = whole.truncated || !metadata_fits || result.text.size() < whole.text.size();
  for (auto& one : result.attachments) {
    if (one.object.empty() || fits(one.object, kAroundAttachment)) continue;
    one.object.clear();
    result.truncated = true;
  }
  return result;
}

}  // namespace

std::string_view name_of(DeliveryEventType type) {
  switch (type) {
    case DeliveryEventType::Created: return "delivery.created";
    case DeliveryEventType::Queued: return "delivery.queued";
    case DeliveryEventType::Accepted: return "delivery.accepted";
    case DeliveryEventType::Delivered: return "delivery.delivered";
    case DeliveryEventType::Deferred: return "delivery.deferred";
    case DeliveryEventType::Failed: return "delivery.failed";
    case DeliveryEventType::Expired: return "delivery.expired";
    case DeliveryEventType::Cancelled: return "delivery.cancelled";
    case DeliveryEventType::InDoubt: return "delivery.in_doubt";
    case DeliveryEventType::Dead: return "delivery.dead";
  }
  std::unreachable();
}

std::optional<DeliveryEventType> parse_delivery_event_type(std::string_view name) {
  for (const auto type : kTypes)
    if (name_of(type) == name) return type;
  return std::nullopt;
}

std::string write_delivery_event(const DeliveryEvent& event) {
  text::JsonWriter writer;
  writer.field("type", name_of(event.type)).field("deliveryId", event.delivery_id);
  writer.begin_object("message");
  detail::write_message_members(writer, abridged(event.message));
  writer.end();
  detail::write_identity(writer, "agent", event.agent);
  writer.field("at", event.at).optional("state", event.state).optional("proof", event.proof);
  writer.optional("reason", event.reason);
  if (event.available_at > 0) writer.field("availableAt", event.available_at);
  if (event.retryable) writer.field("retryable", true);
  writer.optional("via", event.via).optional("evidence", event.evidence);
  return writer.take();
}

Result<DeliveryEvent> parse_delivery_event(std::string_view payload) {
  Field type{"type"}, delivery{"deliveryId"}, message{"message"}, agent{"agent"}, at{"at"}, state{"state"},
      proof{"proof"}, reason{"reason"}, available{"availableAt"}, retryable{"retryable"}, via{"via"},
      evidence{"evidence"};
  RELAY_TRY(read_fields(payload, {&type, &delivery, &message, &agent, &at, &state, &proof, &reason, &available,
                                  &retryable, &via, &evidence}));
  const auto event_type = parse_delivery_event_type(RELAY_TRY(read_required_string(type, kMaxKindBytes)));
  if (!event_type) return fail(Errc::BadField, "the field \"type\" names no delivery event");
  const auto object = RELAY_TRY(read_object(message));
  if (object.empty()) return fail(Errc::MissingField, "the field \"message\" is missing");
  DeliveryEvent event;
  event.type = *event_type;
  event.delivery_id = RELAY_TRY(read_required_string(delivery, kMaxIdBytes));
  event.message = RELAY_TRY(parse_message(object));
  event.agent = RELAY_TRY(detail::parse_identity(agent));
  event.at = RELAY_TRY(read_time(at));
  event.state = RELAY_TRY(read_string(state, kMaxKindBytes));
  event.proof = RELAY_TRY(read_string(proof, kMaxKindBytes));
  event.reason = RELAY_TRY(read_truncated_string(reason, kMaxReasonBytes));
  event.available_at = RELAY_TRY(read_time(available));
  event.retryable = RELAY_TRY(read_bool(retryable, false));
  event.via = RELAY_TRY(read_truncated_string(via, kMaxKindBytes));
  event.evidence = RELAY_TRY(read_truncated_string(evidence, kMaxEvidenceBytes));
  return event;
}

}  // namespace relay::protocol
