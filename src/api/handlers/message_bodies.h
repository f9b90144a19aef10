/// Messages, their ledger and pages of events, as clients read and write them.
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
  std::optional<std::string> waits = {};
  std::optional<bool> repeat = {};
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
  std::optional<json::object> data = {};
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
  std::optional<std::string> waits = {};
  std::vector<DeliveryStep> history = {};
};
struct TracedMessage {
  std::string id = {};
  std::string from = {};
  std::string to = {};
  std::string body = {};
  std::string kind = {};
  WallMs timestamp = 0;
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
inline constexpr auto kObject<api::SendMessageRequest> =
    object("MessageToSend", "What is to be said.",
           member<&api::SendMessageRequest::message>("message", "the words", {.min = 1}),
           member<&api::SendMessageRequest::from>("from", "who says it; `human` when absent", {.min = 1, .max = 128}),
           member<&api::SendMessageRequest::thread>("thread", "the conversation it belongs to", {.max = 256}),
           member<&api::SendMessageRequest::reply_to>("replyTo", "the id of the message it answers", {.max = 256}),
           member<&api::SendMessageRequest::mode>("mode", "when the agent should see it; `on-idle` when absent"),
           member<&api::SendMessageRequest::urgent>("urgent", "before all that is not"),
           member<&api::SendMessageRequest::ttl_ms>("ttlMs", "how long it may wait", {.min = 1, .max = 2'592'000'000}),
           member<&api::SendMessageRequest::idempotency_key>(
               "idempotencyKey", "the same key of the same sender again is the same message", {.min = 1, .max = 200}));
template <>
inline constexpr auto kObject<api::Recipient> =
    object("Addressee", "Whom a message is for.",
           member<&api::Recipient::to>("to", "a name, `*` for everyone, `#channel`", {.min = 1, .max = 256}));

template <>
inline constexpr auto kObject<api::SendMessageResponse> =
    object("MessageStored", "The message is durable.", member<&api::SendMessageResponse::success>("success", "true"),
           member<&api::SendMessageResponse::message_id>("messageId", "what its ledger is found by"),
           member<&api::SendMessageResponse::recipients>("recipients", "how many it goes to"),
           member<&api::SendMessageResponse::delivery_id>("deliveryId", "when it goes to one"),
           member<&api::SendMessageResponse::state>("state", "`queued`: the one it goes to is away"),
           member<&api::SendMessageResponse::offline_since>("offlineSince", "since when"),
           member<&api::SendMessageResponse::waits>("pendingReason", "why it does not go right now"),
           member<&api::SendMessageResponse::repeat>("duplicate", "it was stored before, under the same key"));

template <>
inline constexpr auto kObject<api::MessageBody> =
    object("Message", "One message.", member<&api::MessageBody::id>("id", "its id"),
           member<&api::MessageBody::key>("key", "its place among all: for `before` and `after`"),
           member<&api::MessageBody::from>("from", "who said it"), member<&api::MessageBody::to>("to", "to whom"),
           member<&api::MessageBody::body>("body", "the words"), member<&api::MessageBody::kind>("kind", "of message"),
           member<&api::MessageBody::thread>("thread", "the conversation"),
           member<&api::MessageBody::channel>("channel", "where it was said"),
           member<&api::MessageBody::topic>("topic", "what it is about"),
           member<&api::MessageBody::timestamp>("timestamp", "milliseconds since 1970"),
           member<&api::MessageBody::status>("status", "the state of its least advanced delivery"),
           member<&api::MessageBody::data>("data", "what came with it"));
template <>
inline constexpr auto kObject<api::MessageList> =
    object("MessageList", "Messages.", member<&api::MessageList::messages>("messages", "in the order asked for"),
           member<&api::MessageList::more>("more", "there are others: ask again behind the last key"));

template <>
inline constexpr auto kObject<api::DeliveryStep> = object(
    "DeliveryStep", "One line of a delivery's ledger.", member<&api::DeliveryStep::at>("at", "milliseconds since 1970"),
    member<&api::DeliveryStep::state>("state", "from then on"),
    member<&api::DeliveryStep::proof>("proof", "how sure it is: accepted, written, submitted, seen"),
    member<&api::DeliveryStep::reason>("reason", "in words"),
    member<&api::DeliveryStep::via>("via", "by which it went"),
    member<&api::DeliveryStep::evidence>("evidence", "what shows it"));
template <>
inline constexpr auto kObject<api::DeliveryBody> = object(
    "Delivery", "A message on its way to one agent.", member<&api::DeliveryBody::delivery_id>("deliveryId", "its id"),
    member<&api::DeliveryBody::to>("to", "whom it is for"), member<&api::DeliveryBody::state>("state", "now"),
    member<&api::DeliveryBody::proof>("proof", "how sure that is"),
    member<&api::DeliveryBody::mode>("mode", "when it should be seen"),
    member<&api::DeliveryBody::attempts>("attempts", "so far"),
    member<&api::DeliveryBody::waits>("pendingReason", "why it waits right now"),
    member<&api::DeliveryBody::history>("history", "every step"));
template <>
inline constexpr auto kObject<api::TracedMessage> = object(
    "TracedMessage", "The message of a ledger.", member<&api::TracedMessage::id>("id", "its id"),
    member<&api::TracedMessage::from>("from", "who said it"), member<&api::TracedMessage::to>("to", "to whom"),
    member<&api::TracedMessage::body>("body", "the words"), member<&api::TracedMessage::kind>("kind", "of message"),
    member<&api::TracedMessage::timestamp>("timestamp", "milliseconds since 1970"));
template <>
inline constexpr auto kObject<api::MessageTrace> =
    object("MessageTrace", "What became of a message.", member<&api::MessageTrace::message>("message", "itself"),
           member<&api::MessageTrace::deliveries>("deliveries", "one for each recipient"));

}  // namespace relay::schema
