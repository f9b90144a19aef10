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

constexpr std::size_t kBeginningBytes = 400;
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

/// Those that lie somewhere, as far as they can be understood: a message does not fail for them.
std::vector<commands::AttachedFile> files_in(std::string_view payload) {
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

/// Its files as far as there is room for their lines; where the others are named.
std::string with_files(commands::InjectedMessage shown, std::size_t max_bytes, MessageFiles& long_texts) {
  const auto files = std::exchange(shown.files, {});
  const auto named_in = [&](std::size_t count, std::string_view where) {
    return format("\n({} more attached, named by: {})", count, where);
  };
  std::string all;
  for (const auto& file : files) all += commands::attached_line(file) + "\n";
  const auto list = long_texts.keep(shown.id + "-files", all);
  const auto where = list ? *list : format("agent-relay read {} --json", text::sanitize_line(shown.id));
  const auto spent = commands::format_injected(shown).size() + named_in(files.size(), where).size();
  auto room = max_bytes - std::min(max_bytes, spent);
  for (const auto& file : files) {
    const auto bytes = commands::attached_line(file).size() + 1;
    if (bytes > room) continue;
    room -= bytes;
    shown.files.push_back(file);
  }
  const auto missing = files.size() - shown.files.size();
  return commands::format_injected(shown) + (missing > 0 ? named_in(missing, where) : "");
}

void expire(IncomingMessage& message, WallMs at) {
  message.expires_at = message.expires_at ? std::min(*message.expires_at, at) : at;
}

}  // namespace

IncomingMessage message_of(const client::IncomingMessage& incoming) {
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
    message.files = files_in(incoming.envelope.payload);
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

std::string intent_key(const Delivery& letter) {
  return letter.ref.attempt > 1 ? format("{}#{}", letter.ref.id, letter.ref.attempt) : letter.ref.id;
}

protocol::Receipt seen_receipt(std::string_view way, std::string_view shown_by, std::string_view id,
                               std::string reason) {
  const auto evidence = id.empty() ? std::string{shown_by} : format("{} {}", shown_by, id);
  return {.status = protocol::ReceiptStatus::Delivered,
          .proof = "seen",
          .reason = std::move(reason),
          .via = std::string{way},
          .evidence = std::string{text::truncate_utf8(evidence, protocol::kMaxEvidenceBytes)}};
}

protocol::Receipt expired_receipt(const Delivery& letter) {
  return {.status = protocol::ReceiptStatus::Failed,
          .reason = std::string{protocol::expiry_reason(letter.deadline, letter.expires_at.value_or(0))},
          .code = std::string{protocol::name_of(protocol::NackCode::Expired)}};
}

std::optional<SteadyTime> expiry_of(const Delivery& letter, SteadyTime now, WallMs wall) {
  if (!letter.expires_at) return std::nullopt;
  return now + std::clamp(Millis{*letter.expires_at - wall}, Millis{0}, kFarAway);
}

void set_reason(Delivery& letter, std::string_view reason, SteadyTime now) {
  if (letter.reason == reason) return;
  letter.reason = reason;
  letter.reason_since = now;
}

bool should_tell_reason(Delivery& letter, SteadyTime now) {
  if (letter.reported_reason == letter.reason || letter.ref.id.empty() || letter.reasons_told >= kMaxReasonsTold)
    return false;
  if (const auto due = reason_due(letter); due && now < *due) return false;
  letter.reported_reason = letter.reason;
  ++letter.reasons_told;
  return true;
}

std::optional<SteadyTime> reason_due(const Delivery& letter) {
  if (letter.reported_reason == letter.reason || letter.reasons_told == 0 || letter.reasons_told >= kMaxReasonsTold)
    return std::nullopt;
  return letter.reason_since + kReasonSettle * (1 << std::min(letter.reasons_told - 1, kMaxReasonDoublings));
}

std::string_view reason_shown(const Delivery& letter) {
  return letter.reason.empty() ? "those before it come first" : std::string_view{letter.reason};
}

FetchResult page_of(const std::vector<const Delivery*>& letters, std::size_t limit,
                    const std::vector<std::string>& ids) {
  FetchResult offer;
  std::size_t bytes = 0;
  for (const auto* letter : letters) {
    if (letter->message.empty() || (!ids.empty() && std::ranges::find(ids, letter->message) == ids.end())) continue;
    text::JsonWriter json;
    json.field("id", letter->message)
        .field("from", letter->from)
        .optional("to", letter->to)
        .optional("thread", letter->thread)
        .optional("kind", letter->kind)
        .optional("topic", letter->topic)
        .optional("replyTo", letter->reply_to);
    if (letter->importance) json.field("importance", *letter->importance);
    json.field("body", letter->body)
        .field("mode", protocol::name_of(letter->mode))
        .field("pendingReason", reason_shown(*letter));
    if (letter->silent) json.field("silent", true);
    if (letter->as_user) json.field("as", protocol::kAsUser);
    if (letter->answer_expected) json.field("answerExpected", true);
    if (!letter->files.empty()) write_files(json, letter->files);
    bytes += json.size();
    offer.more = offer.letters.size() >= limit || (bytes > protocol::kMaxResponseBytes && !offer.letters.empty());
    if (offer.more) break;
    offer.letters.push_back(json.take());
    offer.ids.push_back(letter->message);
  }
  return offer;
}

std::string text_for_agent(const IncomingMessage& message, std::size_t max_bytes, MessageFiles& long_texts) {
  auto shown = injected(message, message.body);
  auto text = commands::format_injected(shown);
  if (text.size() <= max_bytes) return text;
  const auto try_with = [&](const std::string& body) {
    shown.body = body;
    text = commands::format_injected(shown);
    if (text.size() > max_bytes && !shown.files.empty()) text = with_files(shown, max_bytes, long_texts);
    return text.size() <= max_bytes;
  };
  if (message.body.size() <= kBeginningBytes) {
    if (try_with(message.body)) return text;
  } else {
    const auto beginning = [&](std::size_t bytes, const std::string& where) {
      return format("{} … [this is the beginning; all {} bytes {}]", text::truncate_utf8(message.body, bytes),
                    message.body.size(), where);
    };
    const auto path = long_texts.keep(message.id, message.body);
    if (path && try_with(beginning(kBeginningBytes, format("are in the file {}", *path)))) return text;
    for (const auto bytes : {kBeginningBytes, std::size_t{0}})
      if (try_with(beginning(bytes, format("are shown by: agent-relay read {}", message.id)))) return text;
  }
  return std::string{text::truncate_utf8(text, max_bytes)};
}

}  // namespace relay::host
