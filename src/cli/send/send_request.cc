#include "cli/send/send_request.h"

#include <algorithm>

#include "base/format.h"
#include "base/json.h"
#include "base/random.h"
#include "cli/framework/failure.h"
#include "protocol/outgoing_send.h"

namespace relay::cli {
namespace {

using Kind = SendResult::Kind;
using protocol::MessageType;
using protocol::ReceiptStatus;

constexpr Millis kDaemonsSlack{5'000};  // it stops waiting for an answer after us, so that ours is the last word
constexpr std::size_t kCorrelationBytes = 12;
constexpr std::size_t kThreadBytes = 4;

protocol::OutgoingSend outgoing_send(const SendRequest& request, std::string_view correlation) {
  protocol::OutgoingSend send{
      .to = request.to, .body = request.text, .kind = request.kind, .topic = request.topic, .thread = request.thread};
  for (const auto& file : request.attachments)
    send.attachments.push_back(
        {.name = file.name, .path = file.path, .bytes = static_cast<std::int64_t>(file.bytes), .sha256 = file.sha256});
  auto& meta = send.meta;
  meta.requires_ack = meta.receipt_steps = request.until != WaitFor::Stored;
  if (request.ttl) meta.ttl_ms = request.ttl->count();
  meta.reply_to = request.reply_to;
  meta.delivery =
      protocol::DeliveryOptions{.mode = request.mode.value_or(protocol::DeliveryMode::OnIdle),
                                .priority = request.urgent ? protocol::Priority::Urgent : protocol::Priority::Normal,
                                .deadline = request.deadline};
  if (!correlation.empty())
    meta.sync = protocol::SyncRequest{.correlation_id = std::string{correlation},
                                      .timeout_ms = (request.timeout + kDaemonsSlack).count(),
                                      .blocking = true};
  return send;
}

/// Handed over, and no answer: to send it anew might send it twice.
Failure fate_unknown(const Error& why, const std::string& wire_id) {
  return Failure{
      Error{why.code(), relay::format("{}; it is not known whether the message was stored, and it may still be; repeat "
                                      "it with: agent-relay send --id {} ..., which stores it only once",
                                      why.message(), wire_id)}};
}

/// One message from its SEND to where its sender wanted it.
class SendCall {
 public:
  SendCall(DaemonConnection& connection, SendRequest letter, const std::function<void(const SendResult&)>& on_news)
      : connection_{connection}, letter_{std::move(letter)}, on_news_{on_news}, own_id_{!letter_.id.empty()} {
    if (letter_.until != WaitFor::Answered) return;
    SystemRandom random;
    correlation_ = random.hex(kCorrelationBytes);
    // An answer is known by what it replies to or by its thread, and a thread is what agents are shown.
    if (letter_.thread.empty()) letter_.thread = "ask-" + random.hex(kThreadBytes);
  }

  Result<SendResult> run() {
    const auto deadline = in(letter_.timeout);
    wire_id_ = RELAY_TRY(say());
    for (;;) {
      const auto frame = connection_.receive(stored_ ? deadline : in(kAnswerTimeout));
      if (!frame && !stored_) return fate_unknown(frame.error(), wire_id_);
      if (!frame) {
        fate_.kind = Kind::NotYet;
        if (!is(frame.error(), Errc::TimedOut)) fate_.reason = frame.error().message();
        fate_.code = exit_reason(frame.error()).code;
        return std::move(fate_);
      }
      if (RELAY_TRY(take(frame->envelope))) return std::move(fate_);
    }
  }

 private:
  Result<std::string> say() {
    const auto encoded = RELAY_TRY(protocol::encode_send(outgoing_send(letter_, correlation_)));
    return connection_.send({.type = MessageType::Send,
                             .id = letter_.id,
                             .from = letter_.from,
                             .to = letter_.to,
                             .topic = letter_.topic,
                             .claim_token = letter_.claim_token,
                             .payload = encoded.payload,
                             .payload_meta = encoded.payload_meta});
  }

  /// True when the fate is known.
  Result<bool> take(const protocol::Envelope& envelope) {
    switch (envelope.type) {
      case MessageType::Ack: return take_ack(envelope.payload);
      case MessageType::Receipt: return take_receipt(RELAY_TRY(protocol::parse_receipt(envelope.payload)));
      case MessageType::Nack: {
        auto nack = RELAY_TRY(protocol::parse_nack(envelope.payload));
        return nack.nack_id == wire_id_ && end(Kind::Refused, std::move(nack));
      }
      case MessageType::Error: {
        auto error = RELAY_TRY(protocol::parse_error(envelope.payload));
        return end(Kind::Refused, {.nack_id = wire_id_, .code = error.code, .message = error.message});
      }
      default: return false;
    }
  }

  Result<bool> take_ack(std::string_view payload) {
    const auto ack = RELAY_TRY(protocol::parse_ack(payload));
    if (!correlation_.empty() && ack.correlation_id == correlation_) {
      fate_.answer = ack.response;
      if (const auto object = parse_json_object(payload)) {
        fate_.answer_id = string_member(*object, "messageId").value_or("");
        fate_.matched_by = string_member(*object, "matchedBy").value_or("");
      }
      return true;
    }
    if (ack.ack_id != wire_id_) return false;
    stored_ = true;
    fate_.id = ack.short_id;
    fate_.recipients = ack.recipients;
    fate_.offline_since = ack.offline_since;
    fate_.waits = ack.pending_reason;
    fate_.proves = ack.proves;
    if (ack.duplicate || (own_id_ && ack.short_id.empty())) return end(Kind::Repeat);
    if (letter_.until == WaitFor::Stored) return true;
    if (letter_.until == WaitFor::Seen && !fate_.proves.empty() && fate_.proves != "seen") return end(Kind::Unprovable);
    on_news_(fate_);
    return false;
  }

  bool take_receipt(protocol::Receipt receipt) {
    if (receipt.message_id != wire_id_) return false;
    const bool settled = is_satisfied(fate_, letter_.until, std::move(receipt));
    on_news_(fate_);
    return settled;
  }

  bool end(Kind kind, protocol::Nack refusal = {}) {
    fate_.kind = kind;
    fate_.refusal = std::move(refusal);
    return true;
  }

  DaemonConnection& connection_;
  SendRequest letter_;
  const std::function<void(const SendResult&)>& on_news_;
  std::string correlation_, wire_id_;
  bool own_id_ = false;  // chosen by its sender: only then may it have been sent before
  bool stored_ = false;
  SendResult fate_;
};

}  // namespace

bool is_satisfied(SendResult& fate, WaitFor until, protocol::Receipt step) {
  fate.steps.push_back(std::move(step));
  const auto& receipt = fate.steps.back();
  switch (receipt.status) {
    case ReceiptStatus::Accepted: return until == WaitFor::Accepted;
    case ReceiptStatus::Delivered:
      return until != WaitFor::Answered && (until != WaitFor::Seen || receipt.proof == "seen");
    case ReceiptStatus::Deferred: return false;
    case ReceiptStatus::Failed:
      fate.reason = receipt.reason.empty() ? "no reason given" : receipt.reason;
      fate.kind = Kind::Undelivered;
      return true;
    case ReceiptStatus::InDoubt:
      if (until == WaitFor::Answered) return false;  // the answer would settle it
      fate.reason =
          relay::format("it is not known whether the agent has it ({}); it is not typed again", receipt.reason);
      fate.kind = Kind::Undelivered;
      return true;
  }
  return false;
}

Result<SendResult> send(DaemonConnection& connection, SendRequest letter,
                        const std::function<void(const SendResult&)>& on_news) {
  return SendCall{connection, std::move(letter), on_news}.run();
}

}  // namespace relay::cli
