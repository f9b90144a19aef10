#include "host/mail.h"

#include "protocol/json_scanner.h"
#include "protocol/send.h"
#include "speech/injection.h"

namespace relay::host {

std::string text_of(const client::Incoming& incoming) {
  speech::InjectedMessage message;
  message.from = incoming.envelope.from;
  message.id = incoming.delivery.message_id;
  message.to = incoming.delivery.original_to;
  if (const auto view = protocol::parse_send(incoming.envelope.payload)) {
    message.body = view->body.empty() ? std::string{} : protocol::decode_string(view->body);
    message.thread = view->thread;
  }
  if (const auto meta = protocol::parse_send_meta(incoming.envelope.payload_meta))
    if (meta->importance) message.importance = *meta->importance;
  return speech::injection_text(message);
}

}  // namespace relay::host
