#include "session/message_draft.h"

#include "base/format.h"
#include "protocol/limits.h"
#include "text/json_scanner.h"
#include "text/json_writer.h"
#include "text/utf8.h"

namespace relay::session {
namespace {

using text::JsonWriter;

class Looker final : public text::MemberVisitor {
 public:
  void member(std::string_view, text::JsonSlice) override {}
};

Result<void> check(const MessageDraft& draft) {
  if (draft.to.empty()) return fail("a message needs somebody it is for; name an agent, a #channel, or '*'");
  if (draft.attachments.size() > protocol::kMaxAttachments)
    return fail(
        format("a message has at most {} attachments, not {}", protocol::kMaxAttachments, draft.attachments.size()));
  for (const auto& one : draft.attachments) {
    if (one.name.empty() || one.name.size() > protocol::kMaxAttachmentNameBytes)
      return fail(format("the name of an attachment has 1 to {} bytes", protocol::kMaxAttachmentNameBytes));
    if (!one.path.starts_with('/'))
      return fail(format("the attachment '{}' needs an absolute path, not '{}'", one.name, one.path));
  }
  if (draft.mentions.size() > protocol::kMaxMentions)
    return fail(format("a message mentions at most {} agents", protocol::kMaxMentions));
  if (draft.metadata.empty()) return {};
  constexpr std::size_t kLevelsAround = 2;  // the frame and its payload
  Looker looker;
  if (text::is_utf8(draft.metadata)) {
    if (auto read = text::scan_object(draft.metadata, looker, kLevelsAround); !read)
      return fail(format("the metadata of a message must be a JSON object: {}", read.error().message()));
    return {};
  }
  return fail("the metadata of a message must be a JSON object in UTF-8");
}

std::string payload_of(const MessageDraft& draft) {
  JsonWriter payload;
  payload.field("kind", draft.kind).field("body", draft.text).optional("thread", draft.thread);
  if (!draft.mentions.empty()) {
    payload.begin_array("mentions");
    for (const auto& name : draft.mentions) payload.element(name);
    payload.end();
  }
  if (!draft.attachments.empty()) {
    payload.begin_array("attachments");
    for (const auto& one : draft.attachments)
      payload.begin_element()
          .field("name", one.name)
          .field("path", one.path)
          .field("bytes", one.bytes)
          .optional("sha256", one.sha256)
          .optional("mediaType", one.media_type)
          .end();
    payload.end();
  }
  if (!draft.metadata.empty()) payload.raw("data", draft.metadata);
  return payload.take();
}

std::string meta_of(const MessageDraft& draft, const protocol::DeliveryOptions& wish) {
  const bool usual = wish.mode == protocol::DeliveryMode::OnIdle && wish.priority == protocol::Priority::Normal &&
                     wish.deadline == 0 && wish.idempotency_key.empty();
  if (usual && draft.reply_to.empty()) return {};
  JsonWriter meta;
  meta.optional("replyTo", draft.reply_to);
  if (!usual) {
    meta.begin_object("delivery").field("mode", name_of(wish.mode)).field("priority", name_of(wish.priority));
    if (wish.deadline > 0) meta.field("deadline", wish.deadline);
    meta.optional("idempotencyKey", wish.idempotency_key).end();
  }
  return meta.take();
}

}  // namespace

Result<client::OutgoingMessage> compose(const MessageDraft& draft, const protocol::DeliveryOptions& wish) {
  RELAY_TRY(check(draft));
  return client::OutgoingMessage{.to = draft.to, .payload = payload_of(draft), .payload_meta = meta_of(draft, wish)};
}

}  // namespace relay::session
