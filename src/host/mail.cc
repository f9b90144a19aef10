#include "host/mail.h"

#include <algorithm>

#include "base/format.h"
#include "protocol/json_scanner.h"
#include "protocol/json_writer.h"
#include "protocol/limits.h"
#include "protocol/send.h"
#include "protocol/utf8.h"
#include "speech/injection.h"

namespace relay::host {
namespace {

constexpr std::size_t kBeginningBytes = 400;

speech::InjectedMessage injected(const Message& message, std::string body) {
  return {.from = message.from,
          .id = message.id,
          .body = std::move(body),
          .thread = message.thread,
          .importance = message.importance,
          .to = message.to};
}

}  // namespace

Message message_of(const client::Incoming& incoming) {
  Message message;
  message.from = incoming.envelope.from;
  message.id = incoming.delivery.message_id;
  message.to = incoming.delivery.original_to;
  if (const auto view = protocol::parse_send(incoming.envelope.payload)) {
    message.body = view->body.empty() ? std::string{} : protocol::decode_string(view->body);
    message.thread = view->thread;
  }
  if (const auto meta = protocol::parse_send_meta(incoming.envelope.payload_meta)) {
    message.importance = meta->importance;
    if (meta->delivery) message.mode = meta->delivery->mode;
    if (meta->ttl_ms) message.expires_at = incoming.envelope.ts + *meta->ttl_ms;
  }
  return message;
}

std::string_view reason_shown(const Letter& letter) {
  return letter.reason.empty() ? "those before it come first" : std::string_view{letter.reason};
}

MailOffer offered(const std::vector<const Letter*>& letters, std::size_t limit, const std::vector<std::string>& ids) {
  MailOffer offer;
  std::size_t bytes = 0;
  for (const auto* letter : letters) {
    if (letter->message.empty() || (!ids.empty() && std::ranges::find(ids, letter->message) == ids.end())) continue;
    protocol::JsonWriter json;
    json.field("id", letter->message)
        .field("from", letter->from)
        .optional("to", letter->to)
        .optional("thread", letter->thread)
        .field("body", letter->body)
        .field("mode", protocol::name_of(letter->mode))
        .field("waiting", reason_shown(*letter));
    bytes += json.size();
    offer.more = offer.letters.size() >= limit || (bytes > protocol::kMaxResponseBytes && !offer.letters.empty());
    if (offer.more) break;
    offer.letters.push_back(json.take());
    offer.ids.push_back(letter->message);
  }
  return offer;
}

std::string text_for_agent(const Message& message, std::size_t max_paste_bytes, LongTexts& long_texts) {
  auto text = speech::injection_text(injected(message, message.body));
  if (text.size() <= max_paste_bytes) return text;
  const auto path = long_texts.keep(message.id, message.body);
  const auto rest =
      path ? format("are in the file {}", *path) : format("are shown by: agent-relay read {}", message.id);
  return speech::injection_text(
      injected(message, format("{} … [this is the beginning; all {} bytes {}]",
                               protocol::cut_at_letter(message.body, kBeginningBytes), message.body.size(), rest)));
}

}  // namespace relay::host
