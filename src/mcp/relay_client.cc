#include "mcp/relay_client.h"

#include "base/format.h"
#include "base/hash.h"
#include "text/json_writer.h"

namespace relay::mcp {

EncodedDraft write_draft(const MessageDraft& draft) {
  text::JsonWriter payload, meta;
  payload.field("kind", "message").field("body", draft.body).optional("thread", draft.thread);
  meta.optional("replyTo", draft.reply_to);
  if (draft.ttl) meta.field("ttl_ms", draft.ttl->count());
  if (draft.mode || !draft.key.empty()) {
    meta.begin_object("delivery");
    if (draft.mode) meta.field("mode", protocol::name_of(*draft.mode));
    meta.optional("idempotencyKey", draft.key).end();
  }
  auto written = meta.take();
  return {payload.take(), written == "{}" ? std::string{} : std::move(written)};
}

std::string fingerprint_of(std::string_view to, std::string_view payload) {
  return sha256_hex(format("{}\n{}", to, payload)).substr(0, 32);
}

Failure key_is_taken(std::string_view key) {
  return fail(
      format("the idempotency_key {} was used for another message, and this one was not sent; give each "
             "message a key of its own",
             key));
}

}  // namespace relay::mcp
