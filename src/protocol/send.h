/// SEND, DELIVER, ACK, NACK, RECEIPT: messages and their deliveries. Read with the scanner; the payload stays
/// untouched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "protocol/delivery_mode.h"
#include "protocol/names.h"
#include "text/json_scanner.h"

namespace relay::protocol {

enum class MessageKind : std::uint8_t { Message, Action, State, Thinking, Other };
std::string_view name_of(MessageKind kind);

/// What the router reads of a SEND or CHANNEL_MESSAGE payload; the rest is forwarded unchanged.
struct SendView {
  MessageKind kind = MessageKind::Message;
  std::string kind_name;  // as sent; "message" when absent
  std::string thread;     // empty when none
  std::string_view body;  // raw JSON string slice, quotes included; empty when absent
  std::string_view data;  // raw JSON object slice; empty when absent or not an object
};
/// An absent `kind` is a message; a `body` that is present must be a string.
Result<SendView> parse_send(std::string_view payload);
/// `state` and `ack`: messages that do not wake an idle agent.
bool is_silent(const SendView& view);

/// `payload_meta.sync`: the sender blocks until a reply with the same correlation id arrives.
struct SyncRequest {
  std::string correlation_id;
  std::int64_t timeout_ms = 0;  // 0: the default
  bool blocking = false;
};

/// `payload_meta.delivery`: when and how the message should reach the session's model.
struct DeliveryOptions {
  DeliveryMode mode = DeliveryMode::OnIdle;
  Priority priority = Priority::Normal;
  WallMs deadline = 0;  // 0: none
  std::string idempotency_key = {};

  friend bool operator==(const DeliveryOptions&, const DeliveryOptions&) = default;
};

struct SendMeta {
  bool requires_ack = false;
  std::optional<std::int64_t> ttl_ms = {};
  std::optional<std::int64_t> importance = {};
  std::string reply_to = {};
  std::optional<SyncRequest> sync = {};
  std::optional<DeliveryOptions> delivery = {};
  bool receipt_steps = false;  // `receipts: "steps"`: a receipt for every change of its deliveries, not only the last
};
/// The meta with a `replyTo`; it must have none.
std::string with_reply_to(std::string_view payload_meta, std::string_view id);
/// Empty text is an empty meta. Unknown members are ignored (they are forwarded unchanged).
Result<SendMeta> parse_send_meta(std::string_view payload_meta);
/// The fields that differ from their defaults; empty when none does.
std::string write_send_meta(const SendMeta& meta);

/// The reason of a delivery that expired at `expires_at`: the deadline of its message (0: none) or its ttl.
std::string_view expiry_reason(WallMs deadline, WallMs expires_at);
/// The same, from the meta of the message.
std::string_view expiry_reason(std::string_view payload_meta, WallMs expires_at);

struct Ack {
  std::string ack_id;
  std::uint64_t seq = 0;                    // 0 when absent
  std::string correlation_id;               // empty when absent
  std::string short_id;                     // the id that users see; empty when absent
  std::optional<std::uint64_t> recipients;  // number of recipients
  std::string delivery_id;                  // if there is one recipient
  WallMs offline_since = 0;                 // the recipient is offline since then; 0 when it is connected
  std::string pending_reason;               // why it is pending although the recipient is connected; empty: it is sent
  std::string proves;      // the strongest proof that the recipient's session can report; empty: unknown
  std::string response;    // with a correlation id: the reply
  bool duplicate = false;  // the message was sent before and is stored once
};
Result<Ack> parse_ack(std::string_view payload);
std::string write_ack(const Ack& ack);
std::string write_ack(std::string_view ack_id, std::uint64_t seq = 0);

/// Why a SEND was refused. `name_of` gives the code on the wire.
enum class NackCode : std::uint8_t {
  UnknownRecipient,
  NotFound,  // an answer names an unknown prompt
  Busy,
  RateLimited,
  Loop,
  TooLarge,
  Expired,
  BadRequest,
  Stale,
  NotOwner,
  Unsupported,
  Refused,  // by the recipient's policy
  Storage,
};
std::string_view name_of(NackCode refusal);
std::string_view describe(NackCode refusal);  // lets an Error carry the code
std::optional<NackCode> parse_nack_code(std::string_view name);
/// The code of an error, if it has one.
std::optional<NackCode> nack_code_of(const Error& error);
/// May the same SEND succeed later, unchanged?
bool is_retryable(NackCode refusal);

struct Nack {
  std::string nack_id;
  std::string code;
  std::string message;
  std::int64_t retry_after_ms = 0;
};
std::string write_nack(std::string_view nack_id, NackCode code, std::string_view message,
                       std::int64_t retry_after_ms = 0);
Result<Nack> parse_nack(std::string_view payload);

/// Codes of ERROR frames, as published clients define them.
enum class ErrorCode : std::uint8_t {
  BadRequest,
  Unauthorized,
  NotFound,
  Internal,
  ResumeTooOld,
  DuplicateConnection,
  Timeout,
  RateLimited,
  Busy,
};
std::string_view name_of(ErrorCode code);
enum class Fatal : std::uint8_t { No, Yes };
std::string write_error(ErrorCode code, std::string_view message, Fatal fatal);
struct ErrorView {
  std::string code;
  std::string message;
  bool fatal = false;
};
Result<ErrorView> parse_error(std::string_view payload);

std::string write_busy(std::int64_t retry_after_ms, std::size_t queue_depth);

/// `as` of a delivery, a trace and a listing: the authority of a message.
inline constexpr std::string_view kAsUser = "user";
inline constexpr std::string_view kAsPeer = "peer";

/// The `delivery` member of a DELIVER.
struct DeliveryBlock {
  std::uint64_t seq = 0;
  std::string_view session_id;
  std::string_view original_to = {};      // only when it differs from the recipient
  bool as_user = false;                   // `as`: it has the user's authority; absent: a peer's
  std::string_view message_id = {};       // the short id for users; this project's, published clients ignore it
  Lane lane = {};                         // the stream's
  std::optional<DeliveryMode> mode = {};  // only when it is not the one its sender chose
  std::uint32_t attempt = 1;
  std::optional<DeliveryReason> reason = {};  // only when it does not follow from the message
  std::optional<WallMs> expires_at = {};      // only when it does not follow from the message; 0: never
};
std::string write_delivery(const DeliveryBlock& block);
struct DeliveryView {
  std::uint64_t seq = 0;
  std::string session_id;
  std::string original_to;
  bool as_user = false;
  std::string message_id;
  Lane lane = {};
  std::optional<DeliveryMode> mode = {};  // replaces the sender's mode
  std::uint32_t attempt = 1;
  std::optional<DeliveryReason> reason = {};
  std::optional<WallMs> expires_at = {};  // instead of the message's own expiry; 0: never
};
Result<DeliveryView> parse_delivery(std::string_view delivery);

/// A payload with `members` (JSON text without braces, e.g. `"_offlineQueued":true`) spliced into its `data` object;
/// `data` is created when absent, and replaced when it is not an object. Every other byte stays.
std::string splice_data(std::string_view payload, const SendView& view, std::string_view members);

enum class ReceiptStatus : std::uint8_t { Accepted, Delivered, Deferred, Failed, InDoubt };
std::string_view name_of(ReceiptStatus status);
struct Receipt {
  ReceiptStatus status = ReceiptStatus::Accepted;
  std::string delivery_id = {};
  std::string message_id = {};  // the id its sender gave the SEND; set towards senders
  std::string agent = {};       // the recipient; set towards senders
  std::string proof = {};       // written, submitted, seen; empty when the status implies it
  std::string reason = {};
  WallMs available_at = 0;
  bool retryable = false;
  std::string code = {};      // the name of a NACK code, when one applies
  std::string via = {};       // the interface it went through: pty, hook, inbox, …
  std::string evidence = {};  // what the proof rests on: the id of a transcript entry, the name of a hook, a state
  std::string metadata = {};  // the session's own: a JSON object as received; forwarded, not stored
  WallMs at = 0;              // when; set towards senders
};
/// Does it leave the delivery with the session, return it to be sent again, or (neither) finish it?
bool keeps_delivery(const Receipt& receipt);
bool returns_delivery(const Receipt& receipt);
Result<Receipt> parse_receipt(std::string_view payload);
std::string write_receipt(const Receipt& receipt);

}  // namespace relay::protocol
