#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/format.h"
#include "protocol/errors.h"
#include "protocol/limits.h"
#include "protocol/payload_fields.h"
#include "protocol/send.h"
#include "text/json_writer.h"

namespace relay::protocol {
namespace {

constexpr std::int64_t kMaxImportance = 100;

Result<SyncRequest> parse_sync(const Field& field) {
  const auto object = RELAY_TRY(read_object(field));
  Field correlation{"correlationId"}, timeout{"timeoutMs"}, blocking{"blocking"};
  RELAY_TRY(read_fields(object, {&correlation, &timeout, &blocking}));
  SyncRequest sync;
  sync.correlation_id = RELAY_TRY(read_required_string(correlation, kMaxIdBytes));
  sync.timeout_ms = std::min(RELAY_TRY(read_count(timeout)), kMaxSyncTimeoutMs);
  sync.blocking = RELAY_TRY(read_bool(blocking, false));
  return sync;
}

Result<DeliveryMode> parse_mode(const Field& field) {
  const auto name = RELAY_TRY(read_string(field, kMaxKindBytes));
  if (name.empty()) return DeliveryMode::OnIdle;
  if (const auto mode = parse_delivery_mode(name)) return *mode;
  return fail(Errc::BadField, "the field \"mode\" must be immediate, next-message, next-tool-call, on-idle or manual");
}

Result<Priority> parse_priority(const Field& field) {
  const auto name = RELAY_TRY(read_string(field, kMaxKindBytes));
  if (name.empty() || name == "normal") return Priority::Normal;
  if (name == "urgent") return Priority::Urgent;
  return fail(Errc::BadField, "the field \"priority\" must be normal or urgent");
}

Result<DeliveryOptions> parse_delivery_options(const Field& field) {
  const auto object = RELAY_TRY(read_object(field));
  Field mode{"mode"}, priority{"priority"}, deadline{"deadline"}, key{"idempotencyKey"};
  RELAY_TRY(read_fields(object, {&mode, &priority, &deadline, &key}));
  DeliveryOptions options;
  options.mode = RELAY_TRY(parse_mode(mode));
  options.priority = RELAY_TRY(parse_priority(priority));
  options.deadline = RELAY_TRY(read_time(deadline));
  options.idempotency_key = RELAY_TRY(read_string(key, kMaxIdBytes));
  return options;
}

/// Advisory importance, 0 to 100; other values are rounded and clamped.
Result<std::optional<std::int64_t>> parse_importance(const Field& field) {
  if (!field.present()) return std::nullopt;
  const auto number = field.value.kind == text::JsonKind::Number ? text::decode_number(field.value.raw) : std::nullopt;
  if (!number) return fail(Errc::BadField, "the field \"importance\" must be a number from 0 to 100");
  return std::llround(std::clamp(*number, 0.0, static_cast<double>(kMaxImportance)));
}

}  // namespace

std::string_view expiry_reason(WallMs deadline, WallMs expires_at) {
  return deadline > 0 && deadline == expires_at ? "its deadline passed" : "its ttl ran out";
}

std::string_view expiry_reason(std::string_view payload_meta, WallMs expires_at) {
  const auto meta = parse_send_meta(payload_meta);
  return expiry_reason(meta && meta->delivery ? meta->delivery->deadline : 0, expires_at);
}

Result<SendMeta> parse_send_meta(std::string_view payload_meta) {
  SendMeta meta;
  if (payload_meta.empty()) return meta;
  Field requires_ack{"requires_ack"}, ttl{"ttl_ms"}, importance{"importance"}, reply_to{"replyTo"}, sync{"sync"},
      delivery{"delivery"}, receipts{"receipts"};
  RELAY_TRY(read_fields(payload_meta, {&requires_ack, &ttl, &importance, &reply_to, &sync, &delivery, &receipts}));
  meta.requires_ack = RELAY_TRY(read_bool(requires_ack, false));
  if (ttl.present()) meta.ttl_ms = std::min(RELAY_TRY(read_count(ttl)), kMaxTtlMs);
  meta.importance = RELAY_TRY(parse_importance(importance));
  meta.reply_to = RELAY_TRY(read_string(reply_to, kMaxIdBytes));
  if (sync.present()) meta.sync = RELAY_TRY(parse_sync(sync));
  if (delivery.present()) meta.delivery = RELAY_TRY(parse_delivery_options(delivery));
  meta.receipt_steps = receipts.value.kind == text::JsonKind::String && receipts.value.raw == "\"steps\"";
  return meta;
}

std::string write_send_meta(const SendMeta& meta) {
  text::JsonWriter writer;
  if (meta.requires_ack) writer.field("requires_ack", true);
  if (meta.receipt_steps) writer.field("receipts", "steps");
  if (meta.ttl_ms) writer.field("ttl_ms", *meta.ttl_ms);
  if (meta.importance) writer.field("importance", std::clamp<std::int64_t>(*meta.importance, 0, kMaxImportance));
  writer.optional("replyTo", meta.reply_to);
  if (const auto& options = meta.delivery; options && *options != DeliveryOptions{}) {
    writer.begin_object("delivery");
    if (options->mode != DeliveryMode::OnIdle) writer.field("mode", name_of(options->mode));
    if (options->priority != Priority::Normal) writer.field("priority", name_of(options->priority));
    if (options->deadline > 0) writer.field("deadline", options->deadline);
    writer.optional("idempotencyKey", options->idempotency_key).end();
  }
  if (const auto& sync = meta.sync) {
    writer.begin_object("sync").field("correlationId", sync->correlation_id);
    if (sync->timeout_ms > 0) writer.field("timeoutMs", std::min(sync->timeout_ms, kMaxSyncTimeoutMs));
    if (sync->blocking) writer.field("blocking", true);
    writer.end();
  }
  auto written = writer.take();
  return written == "{}" ? std::string{} : written;
}

std::string with_reply_to(std::string_view payload_meta, std::string_view id) {
  std::string member = "{\"replyTo\":";
  text::append_json_string(member, id);
  const auto open = payload_meta.find('{');
  if (open == std::string_view::npos) return member + "}";
  const auto rest = payload_meta.substr(open + 1);
  const auto first = rest.find_first_not_of(" \t\r\n");
  const bool empty = first == std::string_view::npos || rest[first] == '}';
  return member.append(empty ? "" : ",").append(rest);
}

}  // namespace relay::protocol
