#include <algorithm>
#include <array>
#include <utility>

#include "protocol/errors.h"
#include "protocol/limits.h"
#include "protocol/payload_fields.h"
#include "protocol/send.h"
#include "text/json_writer.h"

namespace relay::protocol {
namespace {

constexpr std::array kRefusals = {
    NackCode::UnknownRecipient, NackCode::NotFound, NackCode::Busy,       NackCode::RateLimited, NackCode::Loop,
    NackCode::TooLarge,         NackCode::Expired,  NackCode::BadRequest, NackCode::Stale,       NackCode::NotOwner,
    NackCode::Unsupported,      NackCode::Refused,  NackCode::Storage};
constexpr std::array kStatuses = {ReceiptStatus::Accepted, ReceiptStatus::Delivered, ReceiptStatus::Deferred,
                                  ReceiptStatus::Failed, ReceiptStatus::InDoubt};

Result<std::uint64_t> read_seq(const Field& field) { return static_cast<std::uint64_t>(RELAY_TRY(read_count(field))); }

}  // namespace

Result<Ack> parse_ack(std::string_view payload) {
  RELAY_TRY(check_forwardable(payload));
  Field ack_id{"ack_id"}, seq{"seq"}, correlation{"correlationId"}, short_id{"short_id"}, recipients{"recipients"},
      delivery{"deliveryId"}, offline{"offlineSince"}, response{"response"}, duplicate{"duplicate"},
      pending_reason{"pendingReason"}, proves{"proves"};
  RELAY_TRY(read_fields(payload, {&ack_id, &seq, &correlation, &short_id, &recipients, &delivery, &offline, &response,
                                  &duplicate, &pending_reason, &proves}));
  Ack ack;
  ack.ack_id = RELAY_TRY(read_required_string(ack_id, kMaxIdBytes));
  ack.seq = RELAY_TRY(read_seq(seq));
  // Most ACKs have no other fields: there is one for each delivery.
  const auto absent = [](const Field* field) { return !field->present(); };
  if (std::ranges::all_of(std::initializer_list<const Field*>{&correlation, &short_id, &recipients, &delivery, &offline,
                                                              &response, &duplicate, &pending_reason, &proves},
                          absent))
    return ack;
  ack.correlation_id = RELAY_TRY(read_string(correlation, kMaxIdBytes));
  ack.short_id = RELAY_TRY(read_string(short_id, kMaxIdBytes));
  if (recipients.present()) ack.recipients = RELAY_TRY(read_seq(recipients));
  ack.delivery_id = RELAY_TRY(read_string(delivery, kMaxIdBytes));
  ack.offline_since = RELAY_TRY(read_time(offline));
  if (response.value.kind == text::JsonKind::String) ack.response = RELAY_TRY(read_string(response, kMaxFrameBytes));
  ack.duplicate = RELAY_TRY(read_bool(duplicate, false));
  ack.pending_reason = RELAY_TRY(read_truncated_string(pending_reason, kMaxReasonBytes));
  ack.proves = RELAY_TRY(read_string(proves, kMaxKindBytes));
  return ack;
}

std::string write_ack(const Ack& ack) {
  text::JsonWriter writer;
  writer.field("ack_id", ack.ack_id);
  if (ack.seq > 0) writer.field("seq", ack.seq);
  writer.optional("correlationId", ack.correlation_id).optional("short_id", ack.short_id);
  if (ack.recipients) writer.field("recipients", *ack.recipients);
  writer.optional("deliveryId", ack.delivery_id);
  if (ack.offline_since > 0) writer.field("state", "queued").field("offlineSince", ack.offline_since);
  writer.optional("pendingReason", ack.pending_reason).optional("proves", ack.proves);
  if (!ack.correlation_id.empty()) writer.field("response", ack.response);
  if (ack.duplicate) writer.field("duplicate", true);
  return writer.take();
}

std::string write_ack(std::string_view ack_id, std::uint64_t seq) {
  return write_ack(Ack{.ack_id = std::string{ack_id},
                       .seq = seq,
                       .correlation_id = {},
                       .short_id = {},
                       .recipients = {},
                       .delivery_id = {},
                       .pending_reason = {},
                       .proves = {},
                       .response = {}});
}

std::string_view name_of(NackCode refusal) {
  switch (refusal) {
    case NackCode::UnknownRecipient: return "UNKNOWN_RECIPIENT";
    case NackCode::NotFound: return "NOT_FOUND";
    case NackCode::Busy: return "BUSY";
    case NackCode::RateLimited: return "RATE_LIMITED";
    case NackCode::Loop: return "LOOP";
    case NackCode::TooLarge: return "TOO_LARGE";
    case NackCode::Expired: return "EXPIRED";
    case NackCode::BadRequest: return "BAD_REQUEST";
    case NackCode::Stale: return "STALE";
    case NackCode::NotOwner: return "NOT_OWNER";
    case NackCode::Unsupported: return "UNSUPPORTED";
    case NackCode::Refused: return "REFUSED";
    case NackCode::Storage: return "STORAGE";
  }
  std::unreachable();
}

std::optional<NackCode> parse_nack_code(std::string_view name) {
  for (const NackCode refusal : kRefusals) {
    if (name_of(refusal) == name) return refusal;
  }
  return std::nullopt;
}

std::string_view describe(NackCode refusal) { return name_of(refusal); }

std::optional<NackCode> nack_code_of(const Error& error) {
  for (const NackCode refusal : kRefusals)
    if (is(error, refusal)) return refusal;
  return std::nullopt;
}

bool is_retryable(NackCode refusal) {
  switch (refusal) {
    case NackCode::Busy:
    case NackCode::RateLimited:
    case NackCode::Storage: return true;
    case NackCode::UnknownRecipient:
    case NackCode::NotFound:
    case NackCode::Loop:  // an automatic retry would continue the loop
    case NackCode::TooLarge:
    case NackCode::Expired:
    case NackCode::BadRequest:
    case NackCode::Stale:
    case NackCode::NotOwner:
    case NackCode::Unsupported:
    case NackCode::Refused: return false;
  }
  std::unreachable();
}

std::string write_nack(std::string_view nack_id, NackCode code, std::string_view message, std::int64_t retry_after_ms) {
  text::JsonWriter writer;
  writer.field("nack_id", nack_id).field("code", name_of(code)).field("message", message);
  if (retry_after_ms > 0) writer.field("retry_after_ms", retry_after_ms);
  return writer.take();
}

Result<Nack> parse_nack(std::string_view payload) {
  Field nack_id{"nack_id"}, code{"code"}, message{"message"}, retry{"retry_after_ms"};
  RELAY_TRY(read_fields(payload, {&nack_id, &code, &message, &retry}));
  Nack nack;
  nack.nack_id = RELAY_TRY(read_required_string(nack_id, kMaxIdBytes));
  nack.code = RELAY_TRY(read_string(code, kMaxKindBytes));
  nack.message = RELAY_TRY(read_truncated_string(message, kMaxReasonBytes));
  nack.retry_after_ms = RELAY_TRY(read_count(retry));
  return nack;
}

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::BadRequest: return "BAD_REQUEST";
    case ErrorCode::Unauthorized: return "UNAUTHORIZED";
    case ErrorCode::NotFound: return "NOT_FOUND";
    case ErrorCode::Internal: return "INTERNAL";
    case ErrorCode::ResumeTooOld: return "RESUME_TOO_OLD";
    case ErrorCode::DuplicateConnection: return "DUPLICATE_CONNECTION";
    case ErrorCode::Timeout: return "TIMEOUT";
    case ErrorCode::RateLimited: return "RATE_LIMITED";
    case ErrorCode::Busy: return "BUSY";
  }
  std::unreachable();
}

std::string write_error(ErrorCode code, std::string_view message, Fatal fatal) {
  text::JsonWriter writer;
  writer.field("code", name_of(code)).field("message", message).field("fatal", fatal == Fatal::Yes);
  return writer.take();
}

Result<ErrorView> parse_error(std::string_view payload) {
  Field code{"code"}, message{"message"}, fatal{"fatal"};
  RELAY_TRY(read_fields(payload, {&code, &message, &fatal}));
  ErrorView error;
  error.code = RELAY_TRY(read_string(code, kMaxKindBytes));
  error.message = RELAY_TRY(read_truncated_string(message, kMaxReasonBytes));
  error.fatal = RELAY_TRY(read_bool(fatal, false));
  return error;
}

std::string write_busy(std::int64_t retry_after_ms, std::size_t queue_depth) {
  text::JsonWriter writer;
  writer.field("retry_after_ms", retry_after_ms).field("queue_depth", queue_depth);
  return writer.take();
}

std::string write_delivery(const DeliveryBlock& block) {
  text::JsonWriter writer;
  writer.field("seq", block.seq).field("session_id", block.session_id);
  writer.optional("originalTo", block.original_to).optional("messageId", block.message_id);
  if (block.as_user) writer.field("as", kAsUser);
  if (const auto lane = lane_code(block.lane); lane != 0) writer.field("lane", lane);
  if (block.mode) writer.field("mode", name_of(*block.mode));
  if (block.attempt > 1) writer.field("attempt", block.attempt);
  if (block.reason) writer.field("reason", name_of(*block.reason));
  if (block.expires_at) writer.field("expiresAt", *block.expires_at);
  return writer.take();
}

Result<DeliveryView> parse_delivery(std::string_view delivery) {
  Field seq{"seq"}, session{"session_id"}, original_to{"originalTo"}, message{"messageId"}, lane{"lane"}, mode{"mode"},
      attempt{"attempt"}, reason{"reason"}, expires{"expiresAt"}, as{"as"};
  RELAY_TRY(
      read_fields(delivery, {&seq, &session, &original_to, &message, &lane, &mode, &attempt, &reason, &expires, &as}));
  DeliveryView view;
  view.seq = RELAY_TRY(read_seq(seq));
  view.session_id = RELAY_TRY(read_string(session, kMaxIdBytes));
  view.original_to = RELAY_TRY(read_string(original_to, kMaxTopicBytes));
  view.message_id = RELAY_TRY(read_string(message, kMaxIdBytes));
  view.as_user = RELAY_TRY(read_string(as, kMaxKindBytes)) == kAsUser;
  const auto decoded = lane_from_code(RELAY_TRY(read_seq(lane)));
  if (!decoded) return fail(Errc::BadField, "the field \"lane\" is not a lane of this protocol");
  view.lane = *decoded;
  view.mode = parse_delivery_mode(RELAY_TRY(read_string(mode, kMaxKindBytes)));
  view.attempt = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(RELAY_TRY(read_seq(attempt)), 1, kMaxAttempts));
  view.reason = parse_delivery_reason(RELAY_TRY(read_string(reason, kMaxKindBytes)));
  if (expires.present()) view.expires_at = RELAY_TRY(read_time(expires));
  return view;
}

std::string_view name_of(ReceiptStatus status) {
  switch (status) {
    case ReceiptStatus::Accepted: return "accepted";
    case ReceiptStatus::Delivered: return "delivered";
    case ReceiptStatus::Deferred: return "deferred";
    case ReceiptStatus::Failed: return "failed";
    case ReceiptStatus::InDoubt: return "in_doubt";
  }
  std::unreachable();
}

bool keeps_delivery(const Receipt& receipt) {
  return receipt.status == ReceiptStatus::Accepted ||
         (receipt.status == ReceiptStatus::Deferred && receipt.available_at == 0);
}

bool returns_delivery(const Receipt& receipt) {
  return (receipt.status == ReceiptStatus::Failed && receipt.retryable) ||
         (receipt.status == ReceiptStatus::Deferred && receipt.available_at != 0);
}

Result<Receipt> parse_receipt(std::string_view payload) {
  Field status{"status"}, delivery{"deliveryId"}, message{"messageId"}, agent{"agent"}, proof{"proof"},
      reason{"reason"}, available{"availableAt"}, retryable{"retryable"}, code{"code"}, via{"via"},
      evidence{"evidence"}, metadata{"metadata"}, at{"at"};
  RELAY_TRY(read_fields(payload, {&status, &delivery, &message, &agent, &proof, &reason, &available, &retryable, &code,
                                  &via, &evidence, &metadata, &at}));
  const auto status_name = RELAY_TRY(read_required_string(status, kMaxKindBytes));
  const auto* found = std::find_if(kStatuses.begin(), kStatuses.end(),
                                   [&](ReceiptStatus candidate) { return name_of(candidate) == status_name; });
  if (found == kStatuses.end()) {
    return fail(Errc::BadField, "the field \"status\" must be accepted, delivered, deferred or failed");
  }
  Receipt receipt;
  receipt.status = *found;
  receipt.delivery_id = RELAY_TRY(read_string(delivery, kMaxIdBytes));
  receipt.message_id = RELAY_TRY(read_string(message, kMaxIdBytes));
  if (receipt.delivery_id.empty() && receipt.message_id.empty()) {
    return fail(Errc::MissingField, "the field \"deliveryId\" is missing; name the delivery this receipt is for");
  }
  receipt.agent = RELAY_TRY(read_string(agent, kMaxNameBytes));
  receipt.proof = RELAY_TRY(read_string(proof, kMaxKindBytes));
  receipt.reason = RELAY_TRY(read_truncated_string(reason, kMaxReasonBytes));
  receipt.available_at = RELAY_TRY(read_time(available));
  receipt.retryable = RELAY_TRY(read_bool(retryable, false));
  receipt.code = RELAY_TRY(read_string(code, kMaxKindBytes));
  receipt.via = RELAY_TRY(read_truncated_string(via, kMaxKindBytes));
  receipt.evidence = RELAY_TRY(read_truncated_string(evidence, kMaxEvidenceBytes));
  receipt.metadata = RELAY_TRY(read_object(metadata));
  if (receipt.metadata.size() > kMaxCapabilitiesBytes)
    return fail(Errc::BadField, "the field \"metadata\" is too long; keep it short");
  receipt.at = RELAY_TRY(read_time(at));
  return receipt;
}

std::string write_receipt(const Receipt& receipt) {
  text::JsonWriter writer;
  writer.field("status", name_of(receipt.status)).optional("deliveryId", receipt.delivery_id);
  writer.optional("messageId", receipt.message_id).optional("agent", receipt.agent);
  writer.optional("proof", receipt.proof).optional("reason", receipt.reason);
  if (receipt.available_at > 0) writer.field("availableAt", receipt.available_at);
  if (receipt.retryable) writer.field("retryable", true);
  writer.optional("code", receipt.code).optional("via", receipt.via).optional("evidence", receipt.evidence);
  if (!receipt.metadata.empty()) writer.raw("metadata", receipt.metadata);
  if (receipt.at > 0) writer.field("at", receipt.at);
  return writer.take();
}

}  // namespace relay::protocol
