#include "host/delivery/delivery.h"

#include <algorithm>

#include "base/format.h"
#include "protocol/contract.h"
#include "protocol/limits.h"
#include "protocol/send.h"
#include "text/iso_time.h"
#include "text/json_scanner.h"
#include "text/json_writer.h"
#include "text/sanitize.h"
#include "text/utf8.h"

namespace relay::host {
namespace {

constexpr std::size_t kPrefixBytes = 400;
constexpr auto kLastTime = static_cast<WallMs>(text::kLastTimeMs);

commands::InjectedMessage injected(const IncomingMessage& message, std::string body) {
  return {.from = message.from,
          .id = message.id,
          .body = std::move(body),
          .thread = message.thread,
          .kind = message.kind,
          .topic = message.topic,
          .reply_to = message.reply_to,
          .importance = message.importance,
          .to = message.to,
          .files = message.files,
          .answer_expected = message.answer_expected,
          .as_user = message.as_user};
}

/// Attachments with a path. A malformed one does not fail the message.
std::vector<commands::AttachedFile> parse_attachments(std::string_view payload) {
  std::vector<commands::AttachedFile> files;
  for (auto& file : protocol::message_from({.id = {}, .from = {}, .to = {}, .payload = payload}).attachments)
    if (!file.path.empty())
      files.push_back({.name = std::move(file.name),
                       .path = std::move(file.path),
                       .bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(file.bytes, 0)),
                       .media_type = std::move(file.media_type)});
  return files;
}

void write_files(text::JsonWriter& json, const std::vector<commands::AttachedFile>& files) {
  json.begin_array("attachments");
  for (const auto& file : files)
    json.begin_element()
        .field("name", file.name)
        .field("path", file.path)
        .field("bytes", file.bytes)
        .optional("mediaType", file.media_type)
        .end();
  json.end();
}

/// Lines for the files that fit, then how to list the others.
std::string format_with_files(commands::InjectedMessage message, std::size_t max_bytes, MessageFiles& long_texts) {
  const auto files = std::exchange(message.files, {});
  const auto remainder = [&](std::size_t count, std::string_view where) {
    return format("\n({} more attached, named by: {})", count, where);
  };
  std::string all;
  for (const auto& file : files) all += commands::attached_line(file) + "\n";
  const auto list = long_texts.write(message.id + "-files", all);
  const auto where = list ? *list : format("agent-relay read {} --json", text::sanitize_line(message.id));
  const auto spent = commands::format_injected(message).size() + remainder(files.size(), where).size();
  auto room = max_bytes - std::min(max_bytes, spent);
  for (const auto& file : files) {
    const auto bytes = commands::attached_line(file).size() + 1;
    if (bytes > room) continue;
    room -= bytes;
    message.files.push_back(file);
  }
  const auto missing = files.size() - message.files.size();
  return commands::format_injected(message) + (missing > 0 ? remainder(missing, where) : "");
}

void expire(IncomingMessage& message, WallMs at) {
  message.expires_at = message.expires_at ? std::min(*message.expires_at, at) : at;
}

}  // namespace

IncomingMessage parse_incoming(const client::IncomingMessage& incoming) {
  IncomingMessage message;
  message.from = incoming.envelope.from;
  message.id = incoming.delivery.message_id;
  message.to = incoming.delivery.original_to;
  message.topic = incoming.envelope.topic;
  message.as_user = incoming.delivery.as_user;
  if (const auto view = protocol::parse_send(incoming.envelope.payload)) {
    message.body = view->body.empty() ? std::string{} : text::decode_string(view->body);
    message.thread = view->thread;
    if (view->kind != protocol::MessageKind::Message) message.kind = view->kind_name;
    message.silent = protocol::is_silent(*view);
    message.files = parse_attachments(incoming.envelope.payload);
  }
  if (const auto meta = protocol::parse_send_meta(incoming.envelope.payload_meta)) {
    message.importance = meta->importance;
    message.reply_to = meta->reply_to;
    if (meta->delivery) message.mode = meta->delivery->mode;
    if (meta->ttl_ms) expire(message, std::min(incoming.envelope.ts, kLastTime) + *meta->ttl_ms);
    if (meta->delivery) message.deadline = meta->delivery->deadline;
    if (message.deadline > 0) expire(message, message.deadline);
    message.answer_expected = meta->sync && meta->sync->blocking;
  }
  if (incoming.delivery.mode) message.mode = *incoming.delivery.mode;
  if (const auto end = incoming.delivery.expires_at) message.expires_at = *end > 0 ? end : std::nullopt;
  return message;
}

std::string intent_key(const Delivery& delivery) {
  return delivery.ref.attempt > 1 ? format("{}#{}", delivery.ref.id, delivery.ref.attempt) : delivery.ref.id;
}

protocol::Receipt seen_receipt(std::string_view via, std::string_view source, std::string_view id, std::string reason) {
  const auto evidence = id.empty() ? std::string{source} : format("{} {}", source, id);
  return {.status = protocol::ReceiptStatus::Delivered,
          .proof = "seen",
          .reason = std::move(reason),
          .via = std::string{via},
          .evidence = std::string{text::truncate_utf8(evidence, protocol::kMaxEvidenceBytes)}};
}

protocol::Receipt expired_receipt(const Delivery& delivery) {
  return {.status = protocol::ReceiptStatus::Failed,
          .reason = std::string{protocol::expiry_reason(delivery.deadline, delivery.expires_at.value_or(0))},
          .code = std::string{protocol::name_of(protocol::NackCode::Expired)}};
}

std::optional<SteadyTime> expiry_of(const Delivery& delivery, SteadyTime now, WallMs wall) {
  if (!delivery.expires_at) return std::nullopt;
  return now + std::clamp(Millis{*delivery.expires_at - wall}, Millis{0}, kMaxRecheckDelay);
}

void set_reason(Delivery& delivery, std::string_view reason, SteadyTime now) {
  if (delivery.reason == reason) return;
  delivery.reason = reason;
  delivery.reason_since = now;
}

bool should_report_reason(Delivery& delivery, SteadyTime now) {
  if (delivery.reported_reason == delivery.reason || delivery.ref.id.empty() ||
      delivery.reported_reasons >= kMaxReportedReasons)
    return false;
  if (const auto due = reason_due(delivery); due && now < *due) return false;
  delivery.reported_reason = delivery.reason;
  ++delivery.reported_reasons;
  return true;
}

std::optional<SteadyTime> reason_due(const Delivery& delivery) {
  if (delivery.reported_reason == delivery.reason || delivery.reported_reasons == 0 ||
      delivery.reported_reasons >= kMaxReportedReasons)
    return std::nullopt;
  return delivery.reason_since +
         kReasonReportDelay * (1 << std::min(delivery.reported_reasons - 1, kMaxReasonDoublings));
}

std::string_view displayed_reason(const Delivery& delivery) {
  return delivery.reason.empty() ? "those before it come first" : std::string_view{delivery.reason};
}

FetchResult fetch_page(const std::vector<const Delivery*>& deliveries, std::size_t limit,
                       const std::vector<std::string>& ids) {
  FetchResult page;
  std::size_t bytes = 0;
  for (const auto* delivery : deliveries) {
    if (delivery->message.empty() || (!ids.empty() && std::ranges::find(ids, delivery->message) == ids.end())) continue;
    text::JsonWriter json;
    json.field("id", delivery->message)
        .field("from", delivery->from)
        .optional("to", delivery->to)
        .optional("thread", delivery->thread)
        .optional("kind", delivery->kind)
        .optional("topic", delivery->topic)
        .optional("replyTo", delivery->reply_to);
    if (delivery->importance) json.field("importance", *delivery->importance);
    json.field("body", delivery->body)
        .field("mode", protocol::name_of(delivery->mode))
        .field("pendingReason", displayed_reason(*delivery));
    if (delivery->silent) json.field("silent", true);
    if (delivery->as_user) json.field("as", protocol::kAsUser);
    if (delivery->answer_expected) json.field("answerExpected", true);
    if (!delivery->files.empty()) write_files(json, delivery->files);
    bytes += json.size();
    page.more = page.messages.size() >= limit || (bytes > protocol::kMaxResponseBytes && !page.messages.empty());
    if (page.more) break;
    page.messages.push_back(json.take());
    page.ids.push_back(delivery->message);
  }
  return page;
}

std::string text_for_agent(const IncomingMessage& message, std::size_t max_bytes, MessageFiles& long_texts) {
  auto formatted = injected(message, message.body);
  auto text = commands::format_injected(formatted);
  if (text.size() <= max_bytes) return text;
  const auto try_with = [&](const std::string& body) {
    formatted.body = body;
    text = commands::format_injected(formatted);
    if (text.size() > max_bytes && !formatted.files.empty()) text = format_with_files(formatted, max_bytes, long_texts);
    return text.size() <= max_bytes;
  };
  if (message.body.size() <= kPrefixBytes) {
    if (try_with(message.body)) return text;
  } else {
    const auto start_of_body = [&](std::size_t bytes, const std::string& where) {
      return format("{} … [this is the beginning; all {} bytes {}]", text::truncate_utf8(message.body, bytes),
                    message.body.size(), where);
    };
    const auto path = long_texts.write(message.id, message.body);
    if (path && try_with(start_of_body(kPrefixBytes, format("are in the file {}", *path)))) return text;
    for (const auto bytes : {kPrefixBytes, std::size_t{0}})
      if (try_with(start_of_body(bytes, format("are shown by: agent-relay read {}", message.id)))) return text;
  }
  return std::string{text::truncate_utf8(text, max_bytes)};
}

}  // namespace relay::host
