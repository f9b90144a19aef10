/// SEND, DELIVER, ACK, NACK, RECEIPT: a message on its way. Read with the scanner, payload untouched.
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

/// What the router needs to know of a SEND or CHANNEL_MESSAGE payload; the rest travels as it came.
struct SendView {
  MessageKind kind = MessageKind::Message;
  std::string kind_name;  // as sent; "message" when absent
  std::string thread;     // empty when none
  std::string_view body;  // raw JSON string slice, quotes included; empty when absent
  std::string_view data;  // raw JSON object slice; empty when absent or not an object
};
/// An absent `kind` is a message; a `body` that is present must be a string.
Result<SendView> parse_send(std::string_view payload);
/// `state` and `ack`: worth knowing, never worth waking an idle agent.
bool is_silent(const SendView& view);

/// `payload_meta.sync`: the sender blocks until somebody answers with the same correlation id.
struct SyncRequest {
  std::string correlation_id;
  std::int64_t timeout_ms = 0;  // 0: the default
  bool blocking = false;
};

/// `payload_meta.delivery`: when and how the message should reach the session's eyes.
struct DeliveryOptions {
  DeliveryMode mode = DeliveryMode::OnIdle;
  Priority priority = Priority::Normal;
  WallMs deadline = 0;  // 0: none
  std::string idempotency_key = {};
};

struct SendMeta {
  bool requires_ack = false;
  std::optional<std::int64_t> ttl_ms;
  std::optional<std::int64_t> importance;
  std::string reply_to;
  std::optional<SyncRequest> sync;
  std::optional<DeliveryOptions> delivery;
  bool receipt_steps = false;  // `receipts: "steps"`: every change of its deliveries is told, not only the end
};
/// The meta with a `replyTo`; it must have none.
std::string with_reply_to(std::string_view payload_meta, std::string_view id);
/// Empty text is an empty meta. Unknown members are ignored (they travel on unchanged).
Result<SendMeta> parse_send_meta(std::string_view payload_meta);

/// Why a delivery that was due by `expires_at` ended: the deadline of its message (0: none) or its ttl, which each has.
std::string_view expiry_reason(WallMs deadline, WallMs expires_at);
/// The same, from the meta of the message.
std::string_view expiry_reason(std::string_view payload_meta, WallMs expires_at);

struct Ack {
  std::string ack_id;
  std::uint64_t seq = 0;                    // 0 when absent
  std::string correlation_id;               // empty when absent
  std::string short_id;                     // under which people find the message; empty when absent
  std::optional<std::uint64_t> recipients;  // how many the message goes to
  std::string delivery_id;                  // when it goes to one
  WallMs offline_since = 0;                 // that one is away; 0 when it is here
  std::string pending_reason;               // why it does not go right now, though that one is here; empty: it goes
  std::string proves;                       // the most that one's session can prove; empty: not known
  std::string response;                     // with a correlation id: what was answered
  bool duplicate = false;                   // the same was sent before, and is stored once
};
Result<Ack> parse_ack(std::string_view payload);
std::string write_ack(const Ack& ack);
std::string write_ack(std::string_view ack_id, std::uint64_t seq = 0);

/// Why a SEND was refused. `name_of` gives the code on the wire.
enum class NackCode : std::uint8_t {
  UnknownRecipient,
  NotFound,  // what an answer names was never there
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
std::string_view describe(NackCode refusal);  // so that an Error can carry one
std::optional<NackCode> parse_nack_code(std::string_view name);
/// The one that an error was made with, if it was.
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

/// Codes of ERROR frames, as published clients know them.
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

/// `as` of a delivery, a trace and a listing: with whose authority a message speaks.
inline constexpr std::string_view kAsUser = "user";
inline constexpr std::string_view kAsPeer = "peer";

/// The `delivery` member of a DELIVER.
struct DeliveryBlock {
  std::uint64_t seq = 0;
  std::string_view session_id;
  std::string_view original_to = {};      // only when it differs from the recipient
  bool as_user = false;                   // `as`: it has the user's authority; absent: a peer's
  std::string_view message_id = {};       // the short id people see; ours, published clients ignore it
  Lane lane = {};                         // the stream's
  std::optional<DeliveryMode> mode = {};  // only when it is not the one its sender wished
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
  std::optional<DeliveryMode> mode = {};  // in place of the one its sender wished
  std::uint32_t attempt = 1;
  std::optional<DeliveryReason> reason = {};
  std::optional<WallMs> expires_at = {};  // in place of the message's own end; 0: never
};
Result<DeliveryView> parse_delivery(std::string_view delivery);

/// A payload with `members` (JSON text without braces, e.g. `"_offlineQueued":true`) spliced into its `data` object;
/// `data` is made when absent, and replaced when it is no object. Every other byte stays.
std::string splice_data(std::string_view payload, const SendView& view, std::string_view members);

enum class ReceiptStatus : std::uint8_t { Accepted, Delivered, Deferred, Failed, InDoubt };
std::string_view name_of(ReceiptStatus status);
struct Receipt {
  ReceiptStatus status = ReceiptStatus::Accepted;
  std::string delivery_id = {};
  std::string message_id = {};  // the id its sender gave the SEND; set towards senders
  std::string agent = {};       // the recipient; set towards senders
  std::string proof = {};       // written, submitted, seen; empty when the status says enough
  std::string reason = {};
  WallMs available_at = 0;
  bool retryable = false;
  std::string code = {};      // the name of a refusal, when there is one for it
  std::string via = {};       // by which it went: pty, hook, inbox, …
  std::string evidence = {};  // what shows it: a record's id, a hook's name, a state
  std::string metadata = {};  // the session's own words: a JSON object as it came; passed on, not kept
  WallMs at = 0;              // when; set towards senders
};
/// Does it leave the delivery with the session, give it back to come again, or (neither) end it?
bool keeps_delivery(const Receipt& receipt);
bool returns_delivery(const Receipt& receipt);
Result<Receipt> parse_receipt(std::string_view payload);
std::string write_receipt(const Receipt& receipt);

}  // namespace relay::protocol
