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

constexpr Millis kDaemonSlack{
    5'000};  // the daemon stops waiting for the answer later than this program, which reports the timeout
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
                                      .timeout_ms = (request.timeout + kDaemonSlack).count(),
                                      .blocking = true};
  return send;
}

/// Sent, but without a response: sending again without the id could send it twice.
Failure result_unknown(const Error& why, const std::string& wire_id) {
  return Failure{Error{why.code(), relay::format("{}; the message may or may not be stored, now or later; repeat "
                                                 "it with: agent-relay send --id {} ..., which stores it only once",
                                                 why.message(), wire_id)}};
}

/// One message, from its SEND to the requested proof.
class SendCall {
 public:
  SendCall(DaemonConnection& connection, SendRequest request, const std::function<void(const SendResult&)>& on_progress)
      : connection_{connection},
        request_{std::move(request)},
        on_progress_{on_progress},
        own_id_{!request_.id.empty()} {
    if (request_.until != WaitFor::Answered) return;
    SystemRandom random;
    correlation_ = random.hex(kCorrelationBytes);
    // An answer is recognized by `replyTo` or by its thread, and agents get the thread.
    if (request_.thread.empty()) request_.thread = "ask-" + random.hex(kThreadBytes);
  }

  Result<SendResult> run() {
    const auto deadline = in(request_.timeout);
    wire_id_ = RELAY_TRY(send_frame());
    for (;;) {
      const auto frame = connection_.receive(stored_ ? deadline : in(kResponseTimeout));
      if (!frame && !stored_) return result_unknown(frame.error(), wire_id_);
      if (!frame) {
        result_.kind = Kind::TimedOut;
        if (!is(frame.error(), Errc::TimedOut)) result_.reason = frame.error().message();
        result_.code = exit_reason(frame.error()).code;
        return std::move(result_);
      }
      if (RELAY_TRY(on_frame(frame->envelope))) return std::move(result_);
    }
  }

 private:
  Result<std::string> send_frame() {
    const auto encoded = RELAY_TRY(protocol::encode_send(outgoing_send(request_, correlation_)));
    return connection_.send({.type = MessageType::Send,
                             .id = request_.id,
                             .from = request_.from,
                             .to = request_.to,
                             .topic = request_.topic,
                             .claim_token = request_.claim_token,
                             .payload = encoded.payload,
                             .payload_meta = encoded.payload_meta});
  }

  /// True when there is a result.
  Result<bool> on_frame(const protocol::Envelope& envelope) {
    switch (envelope.type) {
      case MessageType::Ack: return on_ack(envelope.payload);
      case MessageType::Receipt: return on_receipt(RELAY_TRY(protocol::parse_receipt(envelope.payload)));
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

  Result<bool> on_ack(std::string_view payload) {
    const auto ack = RELAY_TRY(protocol::parse_ack(payload));
    if (!correlation_.empty() && ack.correlation_id == correlation_) {
      result_.answer = ack.response;
      if (const auto object = parse_json_object(payload)) {
        result_.answer_id = string_member(*object, "messageId").value_or("");
        result_.matched_by = string_member(*object, "matchedBy").value_or("");
      }
      return true;
    }
    if (ack.ack_id != wire_id_) return false;
    stored_ = true;
    result_.id = ack.short_id;
    result_.recipients = ack.recipients;
    result_.offline_since = ack.offline_since;
    result_.pending_reason = ack.pending_reason;
    result_.proves = ack.proves;
    if (ack.duplicate || (own_id_ && ack.short_id.empty())) return end(Kind::Duplicate);
    if (request_.until == WaitFor::Stored) return true;
    if (request_.until == WaitFor::Seen && !result_.proves.empty() && result_.proves != "seen")
      return end(Kind::Unprovable);
    on_progress_(result_);
    return false;
  }

  bool on_receipt(protocol::Receipt receipt) {
    if (receipt.message_id != wire_id_) return false;
    const bool settled = record_step(result_, request_.until, std::move(receipt));
    on_progress_(result_);
    return settled;
  }

  bool end(Kind kind, protocol::Nack refusal = {}) {
    result_.kind = kind;
    result_.refusal = std::move(refusal);
    return true;
  }

  DaemonConnection& connection_;
  SendRequest request_;
  const std::function<void(const SendResult&)>& on_progress_;
  std::string correlation_, wire_id_;
  bool own_id_ = false;  // chosen by the sender; only then it may be a duplicate
  bool stored_ = false;
  SendResult result_;
};

}  // namespace

bool record_step(SendResult& result, WaitFor until, protocol::Receipt step) {
  result.steps.push_back(std::move(step));
  const auto& receipt = result.steps.back();
  switch (receipt.status) {
    case ReceiptStatus::Accepted: return until == WaitFor::Accepted;
    case ReceiptStatus::Delivered:
      return until != WaitFor::Answered && (until != WaitFor::Seen || receipt.proof == "seen");
    case ReceiptStatus::Deferred: return false;
    case ReceiptStatus::Failed:
      result.reason = receipt.reason.empty() ? "no reason given" : receipt.reason;
      result.kind = Kind::Failed;
      return true;
    case ReceiptStatus::InDoubt:
      if (until == WaitFor::Answered) return false;  // an answer would settle it
      result.reason = relay::format("the agent may or may not have it ({}); it is not typed again", receipt.reason);
      result.kind = Kind::Failed;
      return true;
  }
  return false;
}

Result<SendResult> send(DaemonConnection& connection, SendRequest request,
                        const std::function<void(const SendResult&)>& on_progress) {
  return SendCall{connection, std::move(request), on_progress}.run();
}

}  // namespace relay::cli
