/// Request and response bodies about messages and their deliveries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "schema/schema.h"

namespace relay::api {

enum class Mode : std::uint8_t { Immediate, NextMessage, NextToolCall, OnIdle, Manual };

struct SendMessageRequest {
  std::string message = {};
  std::optional<std::string> from = {};
  std::optional<std::string> thread = {};
  std::optional<std::string> reply_to = {};
  std::optional<Mode> mode = {};
  std::optional<bool> urgent = {};
  std::optional<std::int64_t> importance = {};
  std::optional<bool> requires_ack = {};
  std::optional<std::int64_t> ttl_ms = {};
  std::optional<std::string> idempotency_key = {};
};
struct Recipient {
  std::string to = {};
};

struct SendMessageResponse {
  bool success = true;
  std::string message_id = {};
  std::optional<std::int64_t> recipients = {};
  std::optional<std::string> delivery_id = {};
  std::optional<std::string> state = {};
  std::optional<WallMs> offline_since = {};
  std::optional<std::string> pending_reason = {};
  std::optional<bool> duplicate = {};
};

struct AttachmentBody {
  std::optional<std::string> name = {};
  std::optional<std::string> path = {};
  std::optional<std::int64_t> bytes = {};
  std::optional<std::string> sha256 = {};
  std::optional<std::string> media_type = {};
};
struct MessageBody {
  std::string id = {};
  std::int64_t key = 0;
  std::string from = {};
  std::string to = {};
  std::string body = {};
  std::string kind = {};
  std::optional<std::string> thread = {};
  std::optional<std::string> channel = {};
  std::optional<std::string> topic = {};
  WallMs timestamp = 0;
  std::string status = {};
  std::optional<std::string> as = {};
  std::optional<std::string> reply_to = {};
  std::optional<std::int64_t> importance = {};
  std::optional<bool> requires_ack = {};
  std::optional<std::vector<AttachmentBody>> attachments = {};
  std::optional<json::object> data = {};
  std::optional<bool> is_broadcast = {};
  std::optional<std::int64_t> reply_count = {};
};
struct MessageList {
  std::vector<MessageBody> messages = {};
  std::optional<bool> more = {};
};

struct DeliveryStep {
  WallMs at = 0;
  std::string state = {};
  std::optional<std::string> proof = {};
  std::optional<std::string> reason = {};
  std::optional<std::string> via = {};
  std::optional<std::string> evidence = {};
};
struct DeliveryBody {
  std::string delivery_id = {};
  std::string to = {};
  std::string state = {};
  std::optional<std::string> proof = {};
  std::optional<std::string> mode = {};
  std::optional<std::int64_t> attempts = {};
  std::optional<std::string> pending_reason = {};
  std::vector<DeliveryStep> history = {};
};
struct TracedMessage {
  std::string id = {};
  std::string from = {};
  std::string to = {};
  std::string body = {};
  std::string kind = {};
  std::optional<std::string> thread = {};
  std::optional<std::string> topic = {};
  WallMs timestamp = 0;
  std::optional<std::string> as = {};
  std::optional<std::string> sender_id = {};
  std::optional<std::string> reply_to = {};
  std::optional<std::int64_t> importance = {};
  std::optional<bool> requires_ack = {};
};
struct MessageTrace {
  TracedMessage message = {};
  std::vector<DeliveryBody> deliveries = {};
};

}  // namespace relay::api

namespace relay::schema {

template <>
inline constexpr auto kChoices<api::Mode> =
    std::array{Choice{api::Mode::Immediate, "immediate"}, Choice{api::Mode::NextMessage, "next-message"},
               Choice{api::Mode::NextToolCall, "next-tool-call"}, Choice{api::Mode::OnIdle, "on-idle"},
               Choice{api::Mode::Manual, "manual"}};

template <>
inline constexpr auto kObject<api::SendMessageRequest> = object(
    "SendMessageRequest", "A message to send.",
    member<&api::SendMessageRequest::message>("message", "the text", {.min = 1}),
    member<&api::SendMessageRequest::from>("from", "the sender; `human` when absent", {.min = 1, .max = 128}),
    member<&api::SendMessageRequest::thread>("thread", "the thread it belongs to", {.max = 256}),
    member<&api::SendMessageRequest::reply_to>("replyTo", "the id of the message it answers", {.max = 256}),
    member<&api::SendMessageRequest::mode>("mode", "delivery mode; `on-idle` when absent"),
    member<&api::SendMessageRequest::urgent>("urgent", "delivered before messages that are not urgent"),
    member<&api::SendMessageRequest::importance>("importance", "advisory, for the reader", {.min = 0, .max = 100}),
    member<&api::SendMessageRequest::requires_ack>("requiresAck", "true: request an acknowledgement"),
    member<&api::SendMessageRequest::ttl_ms>("ttlMs", "time to live; the delivery expires after it",
                                             {.min = 1, .max = 2'592'000'000}),
    member<&api::SendMessageRequest::idempotency_key>(
        "idempotencyKey", "a second send with the same sender and key is the same message", {.min = 1, .max = 200}));
template <>
inline constexpr auto kObject<api::Recipient> =
    object("Recipient", "The recipient of a message.",
           member<&api::Recipient::to>("to", "an agent, `*` for everyone, or `#channel`", {.min = 1, .max = 256}));

template <>
inline constexpr auto kObject<api::SendMessageResponse> = object(
    "SendMessageResponse", "The message is durable.", member<&api::SendMessageResponse::success>("success", "true"),
    member<&api::SendMessageResponse::message_id>("messageId", "the message's id"),
    member<&api::SendMessageResponse::recipients>("recipients", "number of recipients"),
    member<&api::SendMessageResponse::delivery_id>("deliveryId", "set when there is one recipient"),
    member<&api::SendMessageResponse::state>("state", "`queued` when the recipient is offline"),
    member<&api::SendMessageResponse::offline_since>("offlineSince",
                                                     "since when the recipient is offline; milliseconds since 1970"),
    member<&api::SendMessageResponse::pending_reason>("pendingReason", "why the delivery is pending"),
    member<&api::SendMessageResponse::duplicate>("duplicate", "true: it was already stored under the same key"));

template <>
inline constexpr auto kObject<api::AttachmentBody> = object(
    "Attachment", "A file that was sent with a message.", member<&api::AttachmentBody::name>("name", "the file name"),
    member<&api::AttachmentBody::path>("path", "the stored copy, below the project"),
    member<&api::AttachmentBody::bytes>("bytes", "its size"),
    member<&api::AttachmentBody::sha256>("sha256", "the SHA-256 of its content"),
    member<&api::AttachmentBody::media_type>("mediaType", "its media type"));
template <>
inline constexpr auto kObject<api::MessageBody> = object(
    "Message", "A message.", member<&api::MessageBody::id>("id", "its id"),
    member<&api::MessageBody::key>("key", "its position among all messages, for `before` and `after`"),
    member<&api::MessageBody::from>("from", "the sender"), member<&api::MessageBody::to>("to", "the recipient"),
    member<&api::MessageBody::body>("body", "the text"), member<&api::MessageBody::kind>("kind", "the message kind"),
    member<&api::MessageBody::thread>("thread", "the thread"),
    member<&api::MessageBody::channel>("channel", "the channel it was sent to"),
    member<&api::MessageBody::topic>("topic", "the topic"),
    member<&api::MessageBody::timestamp>("timestamp", "milliseconds since 1970"),
    member<&api::MessageBody::status>("status", "the state of its least advanced delivery"),
    member<&api::MessageBody::as>("as", "`user`: the user wrote it"),
    member<&api::MessageBody::reply_to>("replyTo", "the id of the message it answers"),
    member<&api::MessageBody::importance>("importance", "0 to 100, as the sender set it"),
    member<&api::MessageBody::requires_ack>("requiresAck", "true: the sender requested an acknowledgement"),
    member<&api::MessageBody::attachments>("attachments", "files that were sent with it"),
    member<&api::MessageBody::data>("data", "structured data sent with it"),
    member<&api::MessageBody::is_broadcast>("isBroadcast", "true: it was sent to `*`"),
    member<&api::MessageBody::reply_count>("replyCount", "number of messages that answer it"));
template <>
inline constexpr auto kObject<api::MessageList> =
    object("MessageList", "Messages.", member<&api::MessageList::messages>("messages", "in the requested order"),
           member<&api::MessageList::more>("more", "true: get the next page from the last key"));

template <>
inline constexpr auto kObject<api::DeliveryStep> =
    object("DeliveryStep", "An entry of a delivery's history.",
           member<&api::DeliveryStep::at>("at", "milliseconds since 1970"),
           member<&api::DeliveryStep::state>("state", "the new state"),
           member<&api::DeliveryStep::proof>("proof", "stored, accepted, written, submitted or seen"),
           member<&api::DeliveryStep::reason>("reason", "why"),
           member<&api::DeliveryStep::via>("via", "the interface: inbox, hook, pty, …"),
           member<&api::DeliveryStep::evidence>("evidence", "the evidence for the proof"));
template <>
inline constexpr auto kObject<api::DeliveryBody> =
    object("Delivery", "The delivery of a message to one recipient.",
           member<&api::DeliveryBody::delivery_id>("deliveryId", "its id"),
           member<&api::DeliveryBody::to>("to", "the recipient"),
           member<&api::DeliveryBody::state>("state", "the current state"),
           member<&api::DeliveryBody::proof>("proof", "the current proof"),
           member<&api::DeliveryBody::mode>("mode", "the delivery mode"),
           member<&api::DeliveryBody::attempts>("attempts", "number of attempts so far"),
           member<&api::DeliveryBody::pending_reason>("pendingReason", "why it is pending"),
           member<&api::DeliveryBody::history>("history", "every change of state, oldest first"));
template <>
inline constexpr auto kObject<api::TracedMessage> = object(
    "TracedMessage", "The message of a trace.", member<&api::TracedMessage::id>("id", "its id"),
    member<&api::TracedMessage::from>("from", "the sender"), member<&api::TracedMessage::to>("to", "the recipient"),
    member<&api::TracedMessage::body>("body", "the text"),
    member<&api::TracedMessage::kind>("kind", "the message kind"),
    member<&api::TracedMessage::thread>("thread", "the thread"),
    member<&api::TracedMessage::topic>("topic", "the topic"),
    member<&api::TracedMessage::timestamp>("timestamp", "milliseconds since 1970"),
    member<&api::TracedMessage::as>("as", "`user` or `peer`: whose authority it has"),
    member<&api::TracedMessage::sender_id>("senderId", "the id under which the sender sent it"),
    member<&api::TracedMessage::reply_to>("replyTo", "the id of the message it answers"),
    member<&api::TracedMessage::importance>("importance", "0 to 100, as the sender set it"),
    member<&api::TracedMessage::requires_ack>("requiresAck", "true: the sender requested an acknowledgement"));
template <>
inline constexpr auto kObject<api::MessageTrace> =
    object("MessageTrace", "A message and its delivery history.",
           member<&api::MessageTrace::message>("message", "the message"),
           member<&api::MessageTrace::deliveries>("deliveries", "one per recipient"));

}  // namespace relay::schema
