#include "mcp/post.h"

#include "protocol/json_writer.h"

namespace relay::mcp {

Written write_draft(const Draft& draft) {
  protocol::JsonWriter payload, meta;
  payload.field("kind", "message").field("body", draft.body).optional("thread", draft.thread);
  if (draft.ttl) meta.field("ttl_ms", draft.ttl->count());
  if (draft.mode || !draft.key.empty()) {
    meta.begin_object("delivery");
    if (draft.mode) meta.field("mode", protocol::name_of(*draft.mode));
    meta.optional("idempotencyKey", draft.key).end();
  }
  auto written = meta.take();
  return {payload.take(), written == "{}" ? std::string{} : std::move(written)};
}

}  // namespace relay::mcp
