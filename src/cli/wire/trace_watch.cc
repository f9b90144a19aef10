#include "cli/wire/trace_watch.h"

#include "cli/wire/json_fields.h"

namespace relay::cli {
namespace {

using protocol::MessageType;
using protocol::ReceiptStatus;

/// The event may be about that message; one without a message may be too.
bool may_concern(const protocol::Envelope& envelope, const std::string& message_id) {
  if (envelope.type != MessageType::AgentEvent) return false;
  const auto payload = parse_json_object(envelope.payload);
  const auto* event = payload ? object_member(*payload, "event") : nullptr;
  const auto* message = event != nullptr ? object_member(*event, "message") : nullptr;
  return message == nullptr || message_id.empty() || string_member(*message, "id") == message_id;
}

/// None for the initial states, which have no receipt.
std::optional<ReceiptStatus> status_of(std::string_view state) {
  if (state == "accepted") return ReceiptStatus::Accepted;
  if (state == "delivered") return ReceiptStatus::Delivered;
  if (state == "deferred") return ReceiptStatus::Deferred;
  if (state == "in_doubt") return ReceiptStatus::InDoubt;
  if (state == "failed" || state == "expired" || state == "cancelled" || state == "dead") return ReceiptStatus::Failed;
  return std::nullopt;
}

}  // namespace

Result<void> watch_trace(DaemonConnection& connection, const std::string& id, Deadline deadline,
                         const OnTrace& on_trace, TraceScope scope) {
  RELAY_TRY(connection.send({.type = MessageType::EventsSubscribe, .id = {}, .payload = R"({"types":["delivery"]})"}));
  const auto query = json::serialize(json::object{{"id", id}});
  std::string message_id;  // the full id, after the first response
  for (;;) {
    const auto request_id = RELAY_TRY(connection.send({.type = MessageType::Trace, .id = {}, .payload = query}));
    // A change between the request and its response counts as one after it.
    for (bool answered = false, changed = false; !answered || !changed;) {
      const auto frame = RELAY_TRY(connection.receive(deadline));
      if (frame.envelope.type == MessageType::Error)
        return fail(Errc::Refused, RELAY_TRY(protocol::parse_error(frame.envelope.payload)).message);
      changed = changed || may_concern(frame.envelope, message_id);
      if (frame.envelope.id != request_id) continue;
      answered = true;
      const auto trace = RELAY_TRY(parse_json_object(frame.envelope.payload));
      if (const auto error = string_member(trace, "error")) return fail(*error);
      if (const auto* message = object_member(trace, "message"); message != nullptr && scope == TraceScope::Message)
        message_id = string_member(*message, "id").value_or("");
      if (on_trace(trace)) return {};
    }
  }
}

std::vector<protocol::Receipt> receipts_of(const json::object& delivery) {
  std::vector<protocol::Receipt> steps;
  for (const auto* entry : objects_in(delivery, "history")) {
    const auto status = status_of(string_member(*entry, "state").value_or(""));
    if (!status) continue;
    const auto text = [&](std::string_view name) { return string_member(*entry, name).value_or(""); };
    steps.push_back({.status = *status,
                     .delivery_id = string_member(delivery, "deliveryId").value_or(""),
                     .agent = string_member(delivery, "to").value_or(""),
                     .proof = text("proof"),
                     .reason = text("reason"),
                     .via = text("via"),
                     .evidence = text("evidence"),
                     .at = time_in(*entry, "at")});
  }
  return steps;
}

}  // namespace relay::cli
