#include "mcp/hosted_client.h"

#include <algorithm>

#include "base/format.h"
#include "client/errors.h"
#include "protocol/limits.h"
#include "protocol/send.h"

namespace relay::mcp {
namespace {

constexpr Millis kHostTimeout{5'000};
constexpr std::size_t kIdBytes = 12;
constexpr std::size_t kMaxDaemonCalls = 64;
constexpr std::size_t kMaxKeys = 1'000;

/// From the daemon's response to a SEND.
Result<SendResult> send_result_of(const client::DaemonResponse& answer) {
  if (answer.type == protocol::MessageType::Nack) {
    const auto nack = RELAY_TRY(protocol::parse_nack(answer.payload));
    return fail(format("{}: {}", nack.code, nack.message));
  }
  const auto ack = RELAY_TRY(protocol::parse_ack(answer.payload));
  return SendResult{.id = ack.short_id, .recipients = ack.recipients};
}

std::vector<commands::AttachedFile> files_from(const json::object& message) {
  std::vector<commands::AttachedFile> files;
  const auto* reservations_json = array_member(message, "attachments");
  for (const auto& value : reservations_json != nullptr ? *reservations_json : json::array{}) {
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

InboxPage parse_inbox_page(const json::object& answer) {
  InboxPage page;
  page.more = bool_member(answer, "more").value_or(false);
  page.paused = bool_member(answer, "paused").value_or(false);
  const auto* messages = array_member(answer, "messages");
  for (const auto& value : messages != nullptr ? *messages : json::array{}) {
    const auto* entry = value.if_object();
    if (entry == nullptr) continue;
    InboxMessage message;
    const auto text = [&](std::string_view name) { return string_member(*entry, name).value_or(""); };
    message.id = text("id");
    message.from = text("from");
    message.to = text("to");
    message.thread = text("thread");
    message.body = text("body");
    message.kind = text("kind");
    message.topic = text("topic");
    message.reply_to = text("replyTo");
    message.importance = integer_member(*entry, "importance");
    message.mode = text("mode");
    message.silent = bool_member(*entry, "silent").value_or(false);
    message.answer_expected = bool_member(*entry, "answerExpected").value_or(false);
    message.as_user = text("as") == protocol::kAsUser;
    message.files = files_from(*entry);
    page.messages.push_back(std::move(message));
  }
  return page;
}

HostedClient::HostedClient(net::EventLoop& loop, net::Network& network, Random& random, HostedClientOptions options)
    : loop_{loop},
      network_{network},
      random_{random},
      options_{std::move(options)},
      host_{loop, network, options_.host_socket,
            [this](const json::object& event) {
              const auto what = string_member(event, "event");
              if (what == "message" || (what == "pause" && !bool_member(event, "paused").value_or(false)))
                listener_->on_message_available();
            },
            [this](const std::string& why) { listener_->on_inbox_unavailable(why); }} {}

void HostedClient::start(RelayClientListener& listener) {
  listener_ = &listener;
  host_.connect();
}

void HostedClient::inbox(InboxQuery query, OnInbox on_inbox) {
  json::object request;
  request["method"] = "fetch";
  request["take"] = query.take;
  request["limit"] = query.limit;
  if (!query.ids.empty()) request["ids"] = json::array(query.ids.begin(), query.ids.end());
  host_.request(std::move(request), kHostTimeout,
                [this, on_inbox = std::move(on_inbox)](Result<json::object> answer) mutable {
                  if (!answer) return on_inbox(Failure{answer.error()});
                  auto page = parse_inbox_page(*answer);
                  for (auto& message : page.messages)
                    if (message.to == options_.name) message.to.clear();
                  on_inbox(std::move(page));
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

void HostedClient::bind_key(const std::string& key, std::string fingerprint) {
  if (!fingerprints_.insert_or_assign(key, std::move(fingerprint)).second) return;
  keys_.push_back(key);
  if (keys_.size() <= kMaxKeys) return;
  fingerprints_.erase(keys_.front());
  keys_.pop_front();
}

void HostedClient::free_key(const std::string& key) {
  fingerprints_.erase(key);
  std::erase(keys_, key);
}

void HostedClient::send(protocol::OutgoingSend message, OnSent on_sent) {
  auto encoded = protocol::encode_send(message);
  if (!encoded) return on_sent(Failure{encoded.error()});
  const auto own_key = key_of(message);
  const auto key = own_key.empty() ? random_.hex(kIdBytes) : own_key;
  const auto fingerprint = fingerprint_of(message.to, encoded->payload);
  if (const auto found = fingerprints_.find(key); found != fingerprints_.end() && found->second != fingerprint)
    return on_sent(key_is_taken(key));
  bind_key(key, fingerprint);
  run({.type = protocol::MessageType::Send,
       .id = "mcp-" + fingerprint_of(key, fingerprint),
       .from = options_.name,
       .to = message.to,
       .topic = message.topic,
       .claim_token = options_.claim_token(),
       .payload = std::move(encoded->payload),
       .payload_meta = std::move(encoded->payload_meta)},
      [this, key, on_sent = std::move(on_sent)](Result<client::DaemonResponse> response) mutable {
        if (response) {
          auto result = send_result_of(*response);
          if (!result) free_key(key);  // it was not sent: the same key may be used again
          return on_sent(std::move(result));
        }
        const auto& error = response.error();
        const bool unreachable = is(error, client::Errc::NoDaemon);
        if (unreachable || is(error, client::Errc::TooLarge) || is(error, client::Errc::Full)) {
          free_key(key);
          return on_sent(fail(error.message() + (unreachable ? "; then send it again" : "") + "; nothing was sent"));
        }
        on_sent(
            fail(format("{}; it is unknown whether it was stored: send it again with idempotency_key {}, then it is "
                        "stored once in any case",
                        error.message(), key)));
      });
}

void HostedClient::request(protocol::MessageType type, std::string payload, Millis timeout, OnReply on_reply) {
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
