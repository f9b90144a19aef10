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

constexpr Millis kWordTimeout{2'000};  // for the daemon to store what we sent; then it is `kept`
constexpr Millis kSettleTimeout{500};
constexpr std::size_t kMaxKeys = 1'000;
constexpr std::size_t kMaxEarly = 64;
constexpr std::string_view kHowToStart = "start it with: agent-relay up";
constexpr std::string_view kOurselves = "agent-relay";

InboxMessage letter_of(const client::IncomingMessage& incoming) {
  InboxMessage letter;
  letter.id = incoming.delivery.message_id.empty() ? incoming.place.id : incoming.delivery.message_id;
  letter.from = incoming.envelope.from;
  letter.to = incoming.delivery.original_to;
  letter.topic = incoming.envelope.topic;
  letter.as_user = incoming.delivery.as_user;
  if (const auto view = protocol::parse_send(incoming.envelope.payload)) {
    letter.body = view->body.empty() ? std::string{} : text::decode_string(view->body);
    letter.thread = view->thread;
    if (view->kind != protocol::MessageKind::Message) letter.kind = view->kind_name;
    letter.quiet = protocol::is_silent(*view);
  }
  auto message = protocol::message_from(
      {.id = letter.id, .from = letter.from, .to = letter.to, .payload = incoming.envelope.payload});
  for (auto& file : message.attachments)
    if (!file.path.empty())
      letter.files.push_back({.name = std::move(file.name),
                              .path = std::move(file.path),
                              .bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(file.bytes, 0)),
                              .media_type = std::move(file.media_type)});
  if (letter.body.size() > kMaxBodyBytes) {
    letter.bytes = letter.body.size();
    letter.body = std::string{text::truncate_utf8(letter.body, kMaxBodyBytes)};
  }
  if (incoming.envelope.type == protocol::MessageType::ChannelMessage)
    if (const auto post = protocol::parse_channel_message(incoming.envelope.payload)) letter.to = post->channel;
  return letter;
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
  // Letters wait here until the agent looks; each time it does is its idle moment, its next message and tool call.
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

/// What an earlier life left in the outbox keeps its keys.
void StandaloneClient::remember_unsent() {
  for (const auto* entry = outbox_.after(0); entry != nullptr; entry = outbox_.after(entry->number)) {
    auto& posted = posted_[entry->id];
    posted.to = entry->message.to;
    const auto meta = protocol::parse_send_meta(entry->message.payload_meta);
    if (!meta || !meta->delivery || meta->delivery->idempotency_key.empty()) continue;
    bind_key(std::string{meta->delivery->idempotency_key}, entry->id,
             fingerprint_of(entry->message.to, entry->message.payload));
  }
}

ClientStatus StandaloneClient::standing() const { return {options_.name, "own session", outbox_.size()}; }

Failure StandaloneClient::away() const {
  if (sent_away_) return fail(error_ + "; restart this MCP server, with another --name if the name is in use");
  if (error_.ends_with(kHowToStart)) return fail(error_);  // the network's own sentence says it all
  return fail(format("the relay's daemon cannot be reached ({}); {}", error_, kHowToStart));
}

void StandaloneClient::on_ready(const client::Session&) {
  error_.clear();
  if (paused_) on_pause({.paused = false});  // it is told again when it still holds
  if (settled_) return;
  settling_ = loop_.after(kSettleTimeout, [this] { settle(); });
  link_->request(protocol::MessageType::Inbox, R"({"unreadOnly":true,"limit":1})",
                 [this, alive = lifetime_.watch()](Result<const protocol::Envelope*> answer) {
                   if (!alive) return;
                   const auto object =
                       answer ? parse_json_object((*answer)->payload) : Result<json::object>{json::object{}};
                   const auto* messages = object ? array_member(*object, "messages") : nullptr;
                   if (messages == nullptr || messages->empty() || !held_.empty()) settle();
                 });
}

void StandaloneClient::settle() {
  settled_ = true;
  settling_.reset();
  run_early();
}

void StandaloneClient::run_early() {
  for (auto& task : std::exchange(early_, {})) task();
}

void StandaloneClient::on_lost(const std::string& reason, Millis) {
  error_ = reason;
  for (auto& [id, posted] : posted_)
    if (!posted.answered()) tell(posted);
  run_early();
}

void StandaloneClient::on_stopped(const Error& why) {
  error_ = why.message();
  sent_away_ = true;
  for (auto& [id, posted] : posted_) tell(posted);
  run_early();
  listener_->on_mail_unknown(away().error().message());
}

client::AckMode StandaloneClient::on_incoming(const client::IncomingMessage& incoming) {
  HeldMessage held{letter_of(incoming), incoming.place};
  if (const auto meta = protocol::parse_send_meta(incoming.envelope.payload_meta)) {
    if (meta->ttl_ms) held.expires_at = incoming.envelope.ts + *meta->ttl_ms;
    if (meta->delivery) held.letter.mode = protocol::name_of(meta->delivery->mode);
    held.letter.answer_expected = meta->sync && meta->sync->blocking;
    held.letter.reply_to = meta->reply_to;
    held.letter.importance = meta->importance;
    if (meta->delivery && meta->delivery->deadline > 0) {
      held.deadline = meta->delivery->deadline;
      held.expires_at = std::min(held.expires_at.value_or(held.deadline), held.deadline);
    }
  }
  if (const auto end = incoming.delivery.expires_at)  // a redelivered one has an end of its own
    held.expires_at = *end > 0 ? std::optional{*end} : std::nullopt;
  if (incoming.delivery.mode) held.letter.mode = protocol::name_of(*incoming.delivery.mode);
  held_.push_back(std::move(held));
  loop_.post([this, alive = lifetime_.watch(), place = incoming.place] {
    if (!alive) return;
    link_->report(place, {.status = protocol::ReceiptStatus::Accepted, .reason = "it waits until the agent looks"});
    if (!settled_) settle();
    if (!paused_) listener_->on_message_available();
  });
  return client::AckMode::Later;
}

StandaloneClient::HeldMessage* StandaloneClient::held(std::string_view delivery) {
  const auto at =
      std::ranges::find_if(held_, [&](const HeldMessage& each) { return each.place && each.place->id == delivery; });
  return at == held_.end() ? nullptr : &*at;
}

void StandaloneClient::on_moved(const client::DeliveryRef& place, protocol::DeliveryMode mode) {
  auto* const found = held(place.id);
  if (found == nullptr) return;
  found->place = place;
  found->letter.mode = protocol::name_of(mode);
  notify_messages();  // a flush may have made it one that ends a wait
}

void StandaloneClient::notify_messages() {
  loop_.post([this, alive = lifetime_.watch()] {
    if (alive && !paused_) listener_->on_message_available();
  });
}

bool StandaloneClient::on_cancel(const protocol::CancelCommand& order) {
  return std::erase_if(held_,
                       [&](const HeldMessage& each) { return each.place && each.place->id == order.delivery_id; }) > 0;
}

void StandaloneClient::on_pause(const protocol::PauseCommand& order) {
  paused_ = order.paused;
  if (!paused_) notify_messages();
}

void StandaloneClient::on_acknowledged(const protocol::Ack& ack) {
  const auto at = posted_.find(ack.ack_id);
  if (at != posted_.end()) at->second.fate = SendResult{.id = ack.short_id, .recipients = ack.recipients};
}

void StandaloneClient::on_sent(const std::string& id) {
  const auto at = posted_.find(id);
  if (at == posted_.end()) return;
  tell(at->second);
  forget_if_done(id);
}

void StandaloneClient::on_refused(const std::string& id, const protocol::Nack& why) {
  const auto at = posted_.find(id);
  if (at == posted_.end()) return;
  auto& posted = at->second;
  posted.refusal = format("{}: {}", why.code, why.message);
  if (posted.waiting.empty()) {
    InboxMessage notice;
    notice.id = id;
    notice.from = kOurselves;
    notice.body = format("your message to {} was kept while the daemon was away, and is refused now: {}", posted.to,
                         posted.refusal);
    held_.push_back({std::move(notice), std::nullopt});
    listener_->on_message_available();
  }
  free_key(posted);  // it was not sent: the same may be tried again
  tell(posted);
  forget_if_done(id);
}

void StandaloneClient::bind_key(const std::string& key, const std::string& id, std::string print) {
  if (!by_key_.emplace(key, id).second) return;  // an old outbox may have it twice
  auto& posted = posted_[id];
  posted.key = key;
  posted.print = std::move(print);
  keys_.push_back(key);
  if (keys_.size() <= kMaxKeys) return;
  posted_.erase(by_key_.extract(keys_.front()).mapped());
  keys_.pop_front();
}

void StandaloneClient::free_key(PendingSend& posted) {
  if (posted.key.empty()) return;
  by_key_.erase(posted.key);
  std::erase(keys_, posted.key);
  posted.key.clear();
}

/// All who wait hear how it stands now.
void StandaloneClient::tell(PendingSend& posted) {
  posted.timeout.reset();
  for (auto& on_sent : std::exchange(posted.waiting, {})) {
    if (!posted.refusal.empty())
      on_sent(fail(posted.refusal));
    else
      on_sent(posted.fate.value_or(SendResult{.spooled = true}));
  }
}

void StandaloneClient::forget_if_done(const std::string& id) {
  const auto at = posted_.find(id);
  if (at != posted_.end() && at->second.key.empty()) posted_.erase(at);
}

void StandaloneClient::wait_for_word(const std::string& id, OnSent on_sent) {
  auto& posted = posted_[id];
  posted.waiting.push_back(std::move(on_sent));
  if (posted.answered() || !error_.empty()) return tell(posted);
  posted.timeout = loop_.after(kWordTimeout, [this, id] {
    if (const auto at = posted_.find(id); at != posted_.end()) tell(at->second);
  });
}

void StandaloneClient::send(protocol::OutgoingSend message, OnSent on_sent) {
  auto encoded = client::encode_message(message);
  if (!encoded) return on_sent(Failure{encoded.error()});
  const auto key = key_of(message);
  auto print = fingerprint_of(message.to, encoded->payload);
  if (const auto known = by_key_.find(key); !key.empty() && known != by_key_.end()) {
    if (posted_.at(known->second).print != print) return on_sent(key_is_taken(key));
    return wait_for_word(known->second, std::move(on_sent));
  }
  if (sent_away_) return on_sent(away());
  if (!error_.empty()) link_->retry_now();
  auto id = link_->send(*std::move(encoded));
  if (!id) return on_sent(Failure{id.error()});
  posted_[*id].to = message.to;
  if (!key.empty()) bind_key(key, *id, std::move(print));
  wait_for_word(*id, std::move(on_sent));
}

void StandaloneClient::drop_expired() {
  const auto now = loop_.now().wall;
  std::erase_if(held_, [&](const HeldMessage& held) {
    if (!held.expires_at || *held.expires_at > now) return false;
    link_->report(*held.place, {.status = protocol::ReceiptStatus::Failed,
                                .reason = std::string{protocol::expiry_reason(held.deadline, *held.expires_at)},
                                .code = std::string{protocol::name_of(protocol::NackCode::Expired)}});
    return true;
  });
}

InboxPage StandaloneClient::letters_for(const InboxQuery& wish) {
  InboxPage mail{.letters = {}, .paused = paused_};
  if (wish.ids.empty()) {  // those that are named were shown in time
    drop_expired();
    mail.more = held_.size() >= kWindow;
  }
  for (auto at = held_.begin(); at != held_.end();) {
    const bool wanted = wish.ids.empty() || std::ranges::find(wish.ids, at->letter.id) != wish.ids.end();
    if (!wanted || mail.letters.size() >= wish.limit) {
      mail.more = mail.more || wish.ids.empty();
      ++at;
      continue;
    }
    if (!wish.take) {
      mail.letters.push_back((at++)->letter);
      continue;
    }
    if (at->place)
      link_->report(*at->place, {.status = protocol::ReceiptStatus::Delivered,
                                 .proof = "seen",
                                 .via = "mcp",
                                 .evidence = format("mcp {}", at->letter.id)});
    mail.letters.push_back(std::move(at->letter));
    at = held_.erase(at);
  }
  return mail;
}

void StandaloneClient::inbox(InboxQuery wish, OnMail on_mail) {
  if (!settled_ && error_.empty() && early_.size() < kMaxEarly) {
    early_.push_back([this, wish = std::move(wish), on_mail = std::move(on_mail)]() mutable {
      inbox(std::move(wish), std::move(on_mail));
    });
    return;
  }
  auto found = letters_for(wish);
  if (found.letters.empty() && !error_.empty()) {
    link_->retry_now();
    return on_mail(away());
  }
  on_mail(std::move(found));
}

void StandaloneClient::ask(protocol::MessageType type, std::string payload, Millis timeout, OnReply on_reply) {
  if (!link_->ready() && error_.empty() && early_.size() < kMaxEarly) {
    early_.push_back([this, type, payload = std::move(payload), timeout, on_reply = std::move(on_reply)]() mutable {
      ask(type, std::move(payload), timeout, std::move(on_reply));
    });
    return;
  }
  if (!link_->ready()) {
    link_->retry_now();
    return on_reply(away());
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
