#include "session/message_draft.h"

#include "protocol/outgoing_send.h"

namespace relay::session {

Result<client::OutgoingMessage> encode_draft(const MessageDraft& draft, const protocol::DeliveryOptions& options) {
  return client::encode_message({.to = draft.to,
                                 .body = draft.text,
                                 .kind = draft.kind,
                                 .thread = draft.thread,
                                 .data = draft.metadata,
                                 .mentions = draft.mentions,
                                 .attachments = draft.attachments,
                                 .meta = {.reply_to = draft.reply_to, .delivery = options}});
}

}  // namespace relay::session
