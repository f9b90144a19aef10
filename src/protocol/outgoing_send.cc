#include "protocol/outgoing_send.h"

#include <algorithm>

#include "base/format.h"
#include "protocol/limits.h"
#include "text/json_scanner.h"
#include "text/json_writer.h"
#include "text/utf8.h"

namespace relay::protocol {
namespace {

constexpr std::size_t kMaxSendBytes = kMaxFrameBytes - kEnvelopeReserveBytes;
constexpr std::size_t kLevelsAroundData = 2;  // the frame and its payload

struct IgnoreMembers final : text::MemberVisitor {
  void member(std::string_view, text::JsonSlice) override {}
};

Failure refuse(std::string message) { return fail(NackCode::BadRequest, std::move(message)); }

Result<void> check_line(std::string_view what, std::string_view value, std::size_t max_bytes) {
  if (value.size() > max_bytes) return refuse(format("the {} is longer than {} bytes; shorten it", what, max_bytes));
  if (!text::is_utf8(value)) return refuse(format("the {} is not UTF-8", what));
  if (text::has_control_characters(value))
    return refuse(format("the {} contains a control character; leave it out", what));
  return {};
}

Result<void> check_data(std::string_view data) {
  if (data.empty()) return {};
  if (!text::is_utf8(data)) return refuse("the data of a message must be a JSON object in UTF-8");
  IgnoreMembers ignore;
  if (auto scanned = text::scan_object(data, ignore, kLevelsAroundData); !scanned)
    return refuse(format("the data of a message must be a JSON object: {}", scanned.error().message()));
  return {};
}

Result<void> check_attachment(const Attachment& file) {
  if (file.name.empty() || file.name.size() > kMaxAttachmentNameBytes)
    return refuse(format("the name of an attachment must have 1 to {} bytes", kMaxAttachmentNameBytes));
  if (!file.path.starts_with('/'))
    return refuse(format("the attachment '{}' needs an absolute path, not '{}'", file.name, file.path));
  RELAY_TRY(check_line("name of an attachment", file.name, kMaxAttachmentNameBytes));
  RELAY_TRY(check_line("path of an attachment", file.path, kMaxPathBytes));
  RELAY_TRY(check_line("digest of an attachment", file.sha256, kMaxKindBytes));
  return check_line("media type of an attachment", file.media_type, kMaxIdBytes);
}

Result<void> check_meta(const SendMeta& meta) {
  if (meta.ttl_ms && (*meta.ttl_ms < 1 || *meta.ttl_ms > kMaxTtlMs))
    return refuse(format("the ttl must be 1 to {} ms", kMaxTtlMs));
  RELAY_TRY(check_line("id of the answered message", meta.reply_to, kMaxIdBytes));
  if (meta.delivery) RELAY_TRY(check_line("idempotency key", meta.delivery->idempotency_key, kMaxIdBytes));
  if (!meta.sync) return {};
  if (meta.sync->correlation_id.empty()) return refuse("a blocking message needs a correlation id");
  return check_line("correlation id", meta.sync->correlation_id, kMaxIdBytes);
}

Result<void> check(const OutgoingSend& send) {
  if (send.to.empty()) return refuse("the message has no recipient; name an agent, a #channel, or '*' for everyone");
  RELAY_TRY(check_line("recipient", send.to, kMaxTopicBytes));
  RELAY_TRY(check_line("kind", send.kind, kMaxKindBytes));
  RELAY_TRY(check_line("topic", send.topic, kMaxTopicBytes));
  RELAY_TRY(check_line("thread", send.thread, kMaxIdBytes));
  RELAY_TRY(check_data(send.data));
  if (send.mentions.size() > kMaxMentions) return refuse(format("a message mentions at most {} agents", kMaxMentions));
  for (const auto& name : send.mentions) RELAY_TRY(check_line("mentioned name", name, kMaxNameBytes));
  if (send.attachments.size() > kMaxAttachments)
    return refuse(format("a message has at most {} attachments, not {}", kMaxAttachments, send.attachments.size()));
  for (const auto& file : send.attachments) RELAY_TRY(check_attachment(file));
  return check_meta(send.meta);
}

std::string write_payload(const OutgoingSend& send) {
  text::JsonWriter payload;
  payload.field("kind", send.kind.empty() ? name_of(MessageKind::Message) : std::string_view{send.kind});
  payload.field("body", send.body).optional("thread", send.thread);
  if (!send.mentions.empty()) {
    payload.begin_array("mentions");
    for (const auto& name : send.mentions) payload.element(name);
    payload.end();
  }
  if (!send.attachments.empty()) {
    payload.begin_array("attachments");
    for (const auto& file : send.attachments)
      payload.begin_element()
          .field("name", file.name)
          .field("path", file.path)
          .field("bytes", file.bytes)
          .optional("sha256", file.sha256)
          .optional("mediaType", file.media_type)
          .end();
    payload.end();
  }
  if (!send.data.empty()) payload.raw("data", send.data);
  return payload.take();
}

}  // namespace

Result<EncodedSend> encode_send(const OutgoingSend& send) {
  RELAY_TRY(check(send));
  EncodedSend encoded{.payload = write_payload(send), .payload_meta = write_send_meta(send.meta)};
  if (const auto bytes = encoded.payload.size() + encoded.payload_meta.size(); bytes > kMaxSendBytes)
    return fail(NackCode::TooLarge, format("the message has {} bytes, more than the {} that a frame can hold; send it "
                                           "as a file",
                                           bytes, kMaxSendBytes));
  return encoded;
}

}  // namespace relay::protocol
