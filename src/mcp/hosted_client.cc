#include "mcp/hosted_client.h"

#include <algorithm>

#include "base/format.h"
#include "client/errors.h"
#include "protocol/limits.h"
#include "protocol/send.h"

namespace relay::mcp {
namespace {

constexpr Millis kDoorTimeout{5'000};
constexpr std::size_t kIdBytes = 12;
constexpr std::size_t kMaxDaemonCalls = 64;
constexpr std::size_t kMaxKeys = 1'000;

/// The daemon's response to a SEND.
Result<SendResult> send_result_of(const client::DaemonResponse& answer) {
  if (answer.type == protocol::MessageType::Nack) {
    const auto nack = RELAY_TRY(protocol::parse_nack(answer.payload));
    return fail(format("{}: {}", nack.code, nack.message));
  }
  const auto ack = RELAY_TRY(protocol::parse_ack(answer.payload));
  return SendResult{.id = ack.short_id, .recipients = ack.recipients};
}

std::vector<commands::AttachedFile> files_from(const json::object& letter) {
  std::vector<commands::AttachedFile> files;
  const auto* listed = array_member(letter, "attachments");
  for (const auto& value : listed != nullptr ? *listed : json::array{}) {
    const auto* file = value.if_object();
    if (file == nullptr || files.size() >= protocol::kMaxAttachments) continue;
    files.push_back(
        {.name = string_member(*file, "name").value_or(""),
         .path = string_member(*file, "path").value_or(""),
         .bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(integer_member(*file, "bytes").value_or(0), 0)),
         .media_type = string_member(*file, "mediaType").value_or("")});
  }
  return files;
}

}  // namespace

InboxPage mail_from(const json::object& answer) {
  InboxPage mail;
  mail.more = bool_member(answer, "more").value_or(false);
  mail.paused = bool_member(answer, "paused").value_or(false);
  const auto* letters = array_member(answer, "messages");
  for (const auto& value : letters != nullptr ? *letters : json::array{}) {
    const auto* entry = value.if_object();
    if (entry == nullptr) continue;
    InboxMessage letter;
    const auto text = [&](std::string_view name) { return string_member(*entry, name).value_or(""); };
    letter.id = text("id");
    letter.from = text("from");
    letter.to = text("to");
    letter.thread = text("thread");
    letter.body = text("body");
    letter.kind = text("kind");
    letter.topic = text("topic");
    letter.reply_to = text("replyTo");
    letter.importance = integer_member(*entry, "importance");
    letter.mode = text("mode");
    letter.quiet = bool_member(*entry, "silent").value_or(false);
    letter.answer_expected = bool_member(*entry, "answerExpected").value_or(false);
    letter.as_user = text("as") == protocol::kAsUser;
    letter.files = files_from(*entry);
    mail.letters.push_back(std::move(letter));
  }
  return mail;
}

HostedClient::HostedClient(net::EventLoop& loop, net::Network& network, Random& random, HostedClientOptions options)
    : loop_{loop},
      network_{network},
      random_{random},
      options_{std::move(options)},
      door_{loop, network, options_.door,
            [this](const json::object& event) {
              const auto what = string_member(event, "event");
              if (what == "message" || (what == "pause" && !bool_member(event, "paused").value_or(false)))
                listener_->on_message_available();
            },
            [this](const std::string& why) { listener_->on_mail_unknown(why); }} {}

void HostedClient::start(RelayClientListener& listener) {
  listener_ = &listener;
  door_.connect();
}

void HostedClient::inbox(InboxQuery wish, OnMail on_mail) {
  json::object request;
  request["method"] = "fetch";
  request["take"] = wish.take;
  request["limit"] = wish.limit;
  if (!wish.ids.empty()) request["ids"] = json::array(wish.ids.begin(), wish.ids.end());
  door_.ask(std::move(request), kDoorTimeout,
            [this, on_mail = std::move(on_mail)](Result<json::object> answer) mutable {
              if (!answer) return on_mail(Failure{answer.error()});
              auto mail = mail_from(*answer);
              for (auto& letter : mail.letters)
                if (letter.to == options_.name) letter.to.clear();
              on_mail(std::move(mail));
            });
}

void HostedClient::run(client::DaemonRequest request, client::DaemonCall::OnResponse on_response) {
  if (calls_.size() >= kMaxDaemonCalls)
    return on_response(fail(client::Errc::Full, "too many requests to the daemon are open; try again"));
  const auto number = ++last_call_;
  auto call = std::make_unique<client::DaemonCall>(
      loop_, network_, options_.socket_path, std::move(request),
      [this, number, on_response = std::move(on_response)](Result<client::DaemonResponse> response) mutable {
        const auto finished = calls_.extract(number);  // destroyed after its callback
        on_response(std::move(response));
      });
  auto& running = *call;
  calls_.emplace(number, std::move(call));
  running.start();
}

void HostedClient::bind_key(const std::string& key, std::string print) {
  if (!prints_.insert_or_assign(key, std::move(print)).second) return;
  keys_.push_back(key);
  if (keys_.size() <= kMaxKeys) return;
  prints_.erase(keys_.front());
  keys_.pop_front();
}

void HostedClient::free_key(const std::string& key) {
  prints_.erase(key);
  std::erase(keys_, key);
}

void HostedClient::send(protocol::OutgoingSend message, OnSent on_sent) {
  auto encoded = protocol::encode_send(message);
  if (!encoded) return on_sent(Failure{encoded.error()});
  const auto own_key = key_of(message);
  const auto key = own_key.empty() ? random_.hex(kIdBytes) : own_key;
  const auto print = fingerprint_of(message.to, encoded->payload);
  if (const auto known = prints_.find(key); known != prints_.end() && known->second != print)
    return on_sent(key_is_taken(key));
  bind_key(key, print);
  run({.type = protocol::MessageType::Send,
       .id = "mcp-" + fingerprint_of(key, print),
       .from = options_.name,
       .to = message.to,
       .topic = message.topic,
       .claim_token = options_.claim_token(),
       .payload = std::move(encoded->payload),
       .payload_meta = std::move(encoded->payload_meta)},
      [this, key, on_sent = std::move(on_sent)](Result<client::DaemonResponse> response) mutable {
        if (response) {
          auto result = send_result_of(*response);
          if (!result) free_key(key);  // it was not sent: the same may be tried again
          return on_sent(std::move(result));
        }
        const auto& error = response.error();
        const bool unreachable = is(error, client::Errc::NoDaemon);
        if (unreachable || is(error, client::Errc::TooLarge) || is(error, client::Errc::Full)) {
          free_key(key);
          return on_sent(fail(error.message() + (unreachable ? "; then send it again" : "") + "; nothing was sent"));
        }
        on_sent(
            fail(format("{}; whether it was stored is not known: send it again with idempotency_key {}, then it is "
                        "stored once in any case",
                        error.message(), key)));
      });
}

void HostedClient::ask(protocol::MessageType type, std::string payload, Millis timeout, OnReply on_reply) {
  run({.type = type,
       .id = random_.hex(kIdBytes),
       .claim_token = options_.claim_token(),  // of a SPAWN
       .payload = std::move(payload),
       .handshake = client::Handshake::AsSystem,
       .system_token = options_.system_token ? options_.system_token() : std::string{},
       .timeout = timeout},
      [on_reply = std::move(on_reply)](Result<client::DaemonResponse> response) mutable {
        if (!response) return on_reply(Failure{response.error()});
        if (response->type != protocol::MessageType::Nack) return on_reply(parse_json_object(response->payload));
        const auto nack = protocol::parse_nack(response->payload);
        on_reply(fail(nack ? format("{}: {}", nack->code, nack->message) : nack.error().message()));
      });
}

}  // namespace relay::mcp
