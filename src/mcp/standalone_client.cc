#include "mcp/standalone_client.h"

#include <algorithm>

#include "base/format.h"
#include "mcp/message_view.h"
#include "protocol/contract.h"
#include "protocol/requests.h"
#include "protocol/send.h"
#include "text/json_scanner.h"
#include "text/utf8.h"

namespace relay::mcp {
namespace {

constexpr Millis kStoreTimeout{2'000};  // for the daemon to store a message; then it is `spooled`
constexpr Millis kInboxTimeout{500};
constexpr std::size_t kMaxKeys = 1'000;
constexpr std::size_t kMaxDeferred = 64;
constexpr std::string_view kHowToStart = "start it with: agent-relay up";
constexpr std::string_view kOwnName = "agent-relay";

InboxMessage inbox_message_of(const client::IncomingMessage& incoming) {
  InboxMessage message;
  message.id = incoming.delivery.message_id.empty() ? incoming.ref.id : incoming.delivery.message_id;
  message.from = incoming.envelope.from;
  message.to = incoming.delivery.original_to;
  message.topic = incoming.envelope.topic;
  message.as_user = incoming.delivery.as_user;
  if (const auto view = protocol::parse_send(incoming.envelope.payload)) {
    message.body = view->body.empty() ? std::string{} : text::decode_string(view->body);
    message.thread = view->thread;
    if (view->kind != protocol::MessageKind::Message) message.kind = view->kind_name;
    message.silent = protocol::is_silent(*view);
  }
  auto parts = protocol::message_from(
      {.id = message.id, .from = message.from, .to = message.to, .payload = incoming.envelope.payload});
  for (auto& file : parts.attachments)
    if (!file.path.empty())
      message.files.push_back({.name = std::move(file.name),
                               .path = std::move(file.path),
                               .bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(file.bytes, 0)),
                               .media_type = std::move(file.media_type)});
  if (message.body.size() > kMaxBodyBytes) {
    message.bytes = message.body.size();
    message.body = std::string{text::truncate_utf8(message.body, kMaxBodyBytes)};
  }
  if (incoming.envelope.type == protocol::MessageType::ChannelMessage)
    if (const auto post = protocol::parse_channel_message(incoming.envelope.payload)) message.to = post->channel;
  return message;
}

}  // namespace

StandaloneClient::StandaloneClient(net::EventLoop& loop, net::Network& network, Random& random, client::Outbox& outbox,
                                   StandaloneClientOptions options)
    : loop_{loop}, outbox_{outbox}, options_{std::move(options)} {
  client::LinkOptions link;
  link.socket_path = options_.socket_path;
  link.hello.agent = options_.name;
  link.hello.claim_token = options_.claim_token;
  link.hello.cli = "mcp";
  link.hello.program = "agent-relay mcp";
  link.hello.working_directory = options_.project_root;
  link.hello.capabilities.resume = true;
  link.hello.capabilities.max_inflight = kWindow;
  // The model polls: each poll counts as idle, as its next message and as its next tool call.
  link.hello.capabilities.modes = protocol::DeliveryModes::all();
  link.hello.capabilities.queue = true;
  link.hello.capabilities.pause = true;
  link.timeout = client::RetryLimit::never_give_up();
  link_ = std::make_unique<client::Link>(loop, network, random, outbox, std::move(link), *this);
}

StandaloneClient::~StandaloneClient() = default;

void StandaloneClient::start(RelayClientListener& listener) {
  listener_ = &listener;
  remember_unsent();
  link_->start();
}

/// Messages that an earlier run left in the outbox keep their keys.
void StandaloneClient::remember_unsent() {
  for (const auto* entry = outbox_.after(0); entry != nullptr; entry = outbox_.after(entry->number)) {
    auto& pending = sends_[entry->id];
    pending.to = entry->message.to;
    const auto meta = protocol::parse_send_meta(entry->message.payload_meta);
    if (!meta || !meta->delivery || meta->delivery->idempotency_key.empty()) continue;
    bind_key(std::string{meta->delivery->idempotency_key}, entry->id,
             fingerprint_of(entry->message.to, entry->message.payload));
  }
}

ClientStatus StandaloneClient::status() const { return {options_.name, "standalone", outbox_.size()}; }

Failure StandaloneClient::unreachable_error() const {
  if (rejected_) return fail(error_ + "; restart this MCP server, with another --name if the name is in use");
  if (error_.ends_with(kHowToStart)) return fail(error_);  // the message names the next step already
  return fail(format("cannot reach the daemon: {}; {}", error_, kHowToStart));
}

void StandaloneClient::on_ready(const client::Session&) {
  error_.clear();
  if (paused_) on_pause({.paused = false});  // the daemon sends PAUSE again while the pause lasts
  if (inbox_ready_) return;
  inbox_timer_ = loop_.after(kInboxTimeout, [this] { mark_inbox_ready(); });
  link_->request(protocol::MessageType::Inbox, R"({"unreadOnly":true,"limit":1})",
                 [this, alive = lifetime_.watch()](Result<const protocol::Envelope*> answer) {
                   if (!alive) return;
                   const auto object =
                       answer ? parse_json_object((*answer)->payload) : Result<json::object>{json::object{}};
                   const auto* messages = object ? array_member(*object, "messages") : nullptr;
                   if (messages == nullptr || messages->empty() || !held_.empty()) mark_inbox_ready();
                 });
}

void StandaloneClient::mark_inbox_ready() {
  inbox_ready_ = true;
  inbox_timer_.reset();
  run_deferred();
}

void StandaloneClient::run_deferred() {
  for (auto& task : std::exchange(deferred_, {})) task();
}

void StandaloneClient::on_lost(const std::string& reason, Millis) {
  error_ = reason;
  for (auto& [id, pending] : sends_)
    if (!pending.answered()) notify(pending);
  run_deferred();
}

void StandaloneClient::on_stopped(const Error& nack) {
  error_ = nack.message();
  rejected_ = true;
  for (auto& [id, pending] : sends_) notify(pending);
  run_deferred();
  listener_->on_inbox_unavailable(unreachable_error().error().message());
}

client::AckMode StandaloneClient::on_incoming(const client::IncomingMessage& incoming) {
  HeldMessage held{inbox_message_of(incoming), incoming.ref};
  if (const auto meta = protocol::parse_send_meta(incoming.envelope.payload_meta)) {
    if (meta->ttl_ms) held.expires_at = incoming.envelope.ts + *meta->ttl_ms;
    if (meta->delivery) held.message.mode = protocol::name_of(meta->delivery->mode);
    held.message.answer_expected = meta->sync && meta->sync->blocking;
    held.message.reply_to = meta->reply_to;
    held.message.importance = meta->importance;
    if (meta->delivery && meta->delivery->deadline > 0) {
      held.deadline = meta->delivery->deadline;
      held.expires_at = std::min(held.expires_at.value_or(held.deadline), held.deadline);
    }
  }
  if (const auto end = incoming.delivery.expires_at)  // a redelivered message has another expiry
    held.expires_at = *end > 0 ? std::optional{*end} : std::nullopt;
  if (incoming.delivery.mode) held.message.mode = protocol::name_of(*incoming.delivery.mode);
  held_.push_back(std::move(held));
  loop_.post([this, alive = lifetime_.watch(), ref = incoming.ref] {
    if (!alive) return;
    link_->report(ref,
                  {.status = protocol::ReceiptStatus::Accepted, .reason = "in the inbox until the agent reads it"});
    if (!inbox_ready_) mark_inbox_ready();
    if (!paused_) listener_->on_message_available();
  });
  return client::AckMode::Later;
}

StandaloneClient::HeldMessage* StandaloneClient::held(std::string_view delivery) {
  const auto at =
      std::ranges::find_if(held_, [&](const HeldMessage& each) { return each.ref && each.ref->id == delivery; });
  return at == held_.end() ? nullptr : &*at;
}

void StandaloneClient::on_moved(const client::DeliveryRef& ref, protocol::DeliveryMode mode) {
  auto* const found = held(ref.id);
  if (found == nullptr) return;
  found->ref = ref;
  found->message.mode = protocol::name_of(mode);
  notify_messages();  // after a flush it may end a wait
}

void StandaloneClient::notify_messages() {
  loop_.post([this, alive = lifetime_.watch()] {
    if (alive && !paused_) listener_->on_message_available();
  });
}

bool StandaloneClient::on_cancel(const protocol::CancelCommand& command) {
  return std::erase_if(held_,
                       [&](const HeldMessage& each) { return each.ref && each.ref->id == command.delivery_id; }) > 0;
}

void StandaloneClient::on_pause(const protocol::PauseCommand& command) {
  paused_ = command.paused;
  if (!paused_) notify_messages();
}

void StandaloneClient::on_acknowledged(const protocol::Ack& ack) {
  const auto at = sends_.find(ack.ack_id);
  if (at != sends_.end()) at->second.result = SendResult{.id = ack.short_id, .recipients = ack.recipients};
}

void StandaloneClient::on_sent(const std::string& id) {
  const auto at = sends_.find(id);
  if (at == sends_.end()) return;
  notify(at->second);
  forget_if_done(id);
}

void StandaloneClient::on_refused(const std::string& id, const protocol::Nack& nack) {
  const auto at = sends_.find(id);
  if (at == sends_.end()) return;
  auto& pending = at->second;
  pending.refusal = format("{}: {}", nack.code, nack.message);
  if (pending.waiting.empty()) {
    InboxMessage notice;
    notice.id = id;
    notice.from = kOwnName;
    notice.body = format("your message to {} was spooled while the daemon was offline and is now refused: {}",
                         pending.to, pending.refusal);
    held_.push_back({std::move(notice), std::nullopt});
    listener_->on_message_available();
  }
  free_key(pending);  // it was not sent: the same key may be used again
  notify(pending);
  forget_if_done(id);
}

void StandaloneClient::bind_key(const std::string& key, const std::string& id, std::string fingerprint) {
  if (!by_key_.emplace(key, id).second) return;  // an old outbox may contain it twice
  auto& pending = sends_[id];
  pending.key = key;
  pending.fingerprint = std::move(fingerprint);
  keys_.push_back(key);
  if (keys_.size() <= kMaxKeys) return;
  sends_.erase(by_key_.extract(keys_.front()).mapped());
  keys_.pop_front();
}

void StandaloneClient::free_key(PendingSend& pending) {
  if (pending.key.empty()) return;
  by_key_.erase(pending.key);
  std::erase(keys_, pending.key);
  pending.key.clear();
}

/// Runs the pending callbacks.
void StandaloneClient::notify(PendingSend& pending) {
  pending.timeout.reset();
  for (auto& on_sent : std::exchange(pending.waiting, {})) {
    if (!pending.refusal.empty())
      on_sent(fail(pending.refusal));
    else
      on_sent(pending.result.value_or(SendResult{.spooled = true}));
  }
}

void StandaloneClient::forget_if_done(const std::string& id) {
  const auto at = sends_.find(id);
  if (at != sends_.end() && at->second.key.empty()) sends_.erase(at);
}

void StandaloneClient::wait_for_response(const std::string& id, OnSent on_sent) {
  auto& pending = sends_[id];
  pending.waiting.push_back(std::move(on_sent));
  if (pending.answered() || !error_.empty()) return notify(pending);
  pending.timeout = loop_.after(kStoreTimeout, [this, id] {
    if (const auto at = sends_.find(id); at != sends_.end()) notify(at->second);
  });
}

void StandaloneClient::send(protocol::OutgoingSend message, OnSent on_sent) {
  auto encoded = client::encode_message(message);
  if (!encoded) return on_sent(Failure{encoded.error()});
  const auto key = key_of(message);
  auto fingerprint = fingerprint_of(message.to, encoded->payload);
  if (const auto found = by_key_.find(key); !key.empty() && found != by_key_.end()) {
    if (sends_.at(found->second).fingerprint != fingerprint) return on_sent(key_is_taken(key));
    return wait_for_response(found->second, std::move(on_sent));
  }
  if (rejected_) return on_sent(unreachable_error());
  if (!error_.empty()) link_->retry_now();
  auto id = link_->send(*std::move(encoded));
  if (!id) return on_sent(Failure{id.error()});
  sends_[*id].to = message.to;
  if (!key.empty()) bind_key(key, *id, std::move(fingerprint));
  wait_for_response(*id, std::move(on_sent));
}

void StandaloneClient::drop_expired() {
  const auto now = loop_.now().wall;
  std::erase_if(held_, [&](const HeldMessage& held) {
    if (!held.expires_at || *held.expires_at > now) return false;
    link_->report(*held.ref, {.status = protocol::ReceiptStatus::Failed,
                              .reason = std::string{protocol::expiry_reason(held.deadline, *held.expires_at)},
                              .code = std::string{protocol::name_of(protocol::NackCode::Expired)}});
    return true;
  });
}

InboxPage StandaloneClient::page_for(const InboxQuery& query) {
  InboxPage page{.messages = {}, .paused = paused_};
  if (query.ids.empty()) {  // named messages were returned before they expired
    drop_expired();
    page.more = held_.size() >= kWindow;
  }
  for (auto at = held_.begin(); at != held_.end();) {
    const bool wanted = query.ids.empty() || std::ranges::find(query.ids, at->message.id) != query.ids.end();
    if (!wanted || page.messages.size() >= query.limit) {
      page.more = page.more || query.ids.empty();
      ++at;
      continue;
    }
    if (!query.take) {
      page.messages.push_back((at++)->message);
      continue;
    }
    if (at->ref)
      link_->report(*at->ref, {.status = protocol::ReceiptStatus::Delivered,
                               .proof = "seen",
                               .via = "mcp",
                               .evidence = format("mcp {}", at->message.id)});
    page.messages.push_back(std::move(at->message));
    at = held_.erase(at);
  }
  return page;
}

void StandaloneClient::inbox(InboxQuery query, OnInbox on_inbox) {
  if (!inbox_ready_ && error_.empty() && deferred_.size() < kMaxDeferred) {
    deferred_.push_back([this, query = std::move(query), on_inbox = std::move(on_inbox)]() mutable {
      inbox(std::move(query), std::move(on_inbox));
    });
    return;
  }
  auto found = page_for(query);
  if (found.messages.empty() && !error_.empty()) {
    link_->retry_now();
    return on_inbox(unreachable_error());
  }
  on_inbox(std::move(found));
}

void StandaloneClient::request(protocol::MessageType type, std::string payload, Millis timeout, OnReply on_reply) {
  if (!link_->ready() && error_.empty() && deferred_.size() < kMaxDeferred) {
    deferred_.push_back([this, type, payload = std::move(payload), timeout, on_reply = std::move(on_reply)]() mutable {
      request(type, std::move(payload), timeout, std::move(on_reply));
    });
    return;
  }
  if (!link_->ready()) {
    link_->retry_now();
    return on_reply(unreachable_error());
  }
  link_->request(
      type, payload,
      [on_reply = std::move(on_reply)](Result<const protocol::Envelope*> answer) mutable {
        if (!answer) return on_reply(Failure{answer.error()});
        on_reply(parse_json_object((*answer)->payload));
      },
      timeout);
}

}  // namespace relay::mcp
