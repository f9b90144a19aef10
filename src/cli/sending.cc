#include "cli/sending.h"

#include "base/format.h"
#include "cli/failure.h"
#include "protocol/json_writer.h"

namespace relay::cli {
namespace {

using Kind = Fate::Kind;
using protocol::MessageType;

Result<std::string> say(Connection& connection, const Letter& letter) {
  protocol::JsonWriter payload, meta;
  payload.field("kind", letter.kind).field("body", letter.text);
  payload.optional("thread", letter.thread);
  if (letter.patience) meta.field("requires_ack", true);
  if (letter.ttl) meta.field("ttl_ms", letter.ttl->count());
  if (letter.mode) meta.begin_object("delivery").field("mode", protocol::name_of(*letter.mode)).end();
  const auto payload_text = payload.take(), meta_text = meta.take();
  return connection.send({.type = MessageType::Send,
                          .id = letter.id,
                          .from = letter.from,
                          .to = letter.to,
                          .topic = letter.topic,
                          .claim_token = letter.claim_token,
                          .payload = payload_text,
                          .payload_meta = meta_text == "{}" ? std::string_view{} : meta_text});
}

/// What one frame tells about the message; empty when it is about something else.
Result<std::optional<Fate>> told_by(const protocol::Envelope& envelope, const std::string& wire_id) {
  switch (envelope.type) {
    case MessageType::Ack: {
      const auto ack = RELAY_TRY(protocol::parse_ack(envelope.payload));
      if (ack.ack_id != wire_id) return std::nullopt;
      return Fate{.kind = Kind::Stored, .id = ack.short_id, .recipients = ack.recipients};
    }
    case MessageType::Nack: {
      auto nack = RELAY_TRY(protocol::parse_nack(envelope.payload));
      if (nack.nack_id != wire_id) return std::nullopt;
      return Fate{.kind = Kind::Refused, .refusal = std::move(nack)};
    }
    case MessageType::Receipt: {
      const auto receipt = RELAY_TRY(protocol::parse_receipt(envelope.payload));
      if (receipt.message_id != wire_id) return std::nullopt;
      if (receipt.status == protocol::ReceiptStatus::Delivered) return Fate{.kind = Kind::Delivered};
      if (receipt.status == protocol::ReceiptStatus::InDoubt)
        return Fate{.kind = Kind::Undelivered,
                    .reason = relay::format("whether the agent has it is not known ({}), and it is not typed again",
                                            receipt.reason)};
      if (receipt.status != protocol::ReceiptStatus::Failed) return std::nullopt;
      return Fate{.kind = Kind::Undelivered, .reason = receipt.reason.empty() ? "no reason was given" : receipt.reason};
    }
    case MessageType::Error: {
      const auto error = RELAY_TRY(protocol::parse_error(envelope.payload));
      return Fate{.kind = Kind::Refused, .refusal = {.nack_id = wire_id, .code = error.code, .message = error.message}};
    }
    default: return std::nullopt;
  }
}

/// Handed over, and no answer: to send it anew might send it twice.
Failure fate_unknown(const Error& why, const std::string& wire_id) {
  return Failure{
      Error{why.code(), relay::format("{}; whether it was stored is not known: the same command with --id {} "
                                      "stores it once in any case",
                                      why.message(), wire_id)}};
}

}  // namespace

Result<Fate> hand_over(Connection& connection, const Letter& letter) {
  const auto deadline = in(letter.patience.value_or(Millis{0}));
  const auto wire_id = RELAY_TRY(say(connection, letter));
  std::optional<Fate> stored;
  for (;;) {
    const auto frame = connection.receive(stored ? deadline : in(kAnswerTimeout));
    if (!frame) {
      if (!stored) return fate_unknown(frame.error(), wire_id);
      const bool late = is(frame.error(), Errc::TimedOut);
      return Fate{.kind = Kind::NotYet,
                  .id = stored->id,
                  .reason = late ? "it was not delivered in time" : frame.error().message(),
                  .code = ending_of(frame.error()).code};
    }
    auto fate = RELAY_TRY(told_by(frame->envelope, wire_id));
    if (!fate) continue;
    if (fate->kind == Kind::Stored && letter.patience) {
      stored = std::move(fate);
      continue;
    }
    if (stored) fate->id = stored->id;
    return *std::move(fate);
  }
}

}  // namespace relay::cli
