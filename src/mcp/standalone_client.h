/// A session of our own: a link to the daemon under a name of this project, with a durable outbox.
///
/// Invariants
/// - What `send` took is in the outbox: it goes out when the daemon is there, also after a restart of either. Whoever
///   asked hears `stored` with the daemon's word, or `kept` when that does not come soon.
/// - The same key is sent once in the life of this program and of its outbox; under it no other message is sent, unless
///   the first was refused.
/// - Letters wait in the daemon, of which at most kWindow are here, each with as much of its body as is ever shown (16 MiB
///   in all) and the names of its files; they are acknowledged when they are taken. While the window is full there may be
///   more.
/// - Every mode is taken at once: we are asked, and each asking is the moment. Who waits is not woken while a person has
///   paused us, nor by what wakes nobody, nor by what is held until it is fetched or flushed; who asks is always shown.
/// - A message that was kept and is refused later comes back as a letter of ours, so that its writer hears of it.
/// Ownership: borrows loop, network, random and outbox, which outlive it. Threading: loop thread only.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "client/link.h"
#include "mcp/relay_client.h"

namespace relay::mcp {

inline constexpr std::uint32_t kWindow = 1'024;

struct StandaloneClientOptions {
  std::string socket_path;
  std::string name;
  std::string claim_token;
  std::string project_root;
};

class StandaloneClient final : public RelayClient, public client::LinkListener {
 public:
  StandaloneClient(net::EventLoop& loop, net::Network& network, Random& random, client::Outbox& outbox,
                   StandaloneClientOptions options);
  ~StandaloneClient() override;

  void start(RelayClientListener& listener) override;
  /// Says goodbye; no callback follows.
  void stop() { link_->stop(); }

  [[nodiscard]] ClientStatus standing() const override;
  void send(protocol::OutgoingSend message, OnSent on_sent) override;
  void inbox(InboxQuery wish, OnMail on_mail) override;
  void ask(protocol::MessageType type, std::string payload, Millis timeout, OnReply on_reply) override;

 private:
  /// A letter, and what to acknowledge; a word of our own has no place.
  struct HeldMessage {
    InboxMessage letter;
    std::optional<client::DeliveryRef> place;
    std::optional<WallMs> expires_at = {};
    WallMs deadline = 0;  // of the message; 0: none
  };
  /// What was handed to the outbox and has not been answered, or has a key.
  struct PendingSend {
    std::string to;
    std::vector<OnSent> waiting;
    std::unique_ptr<net::Timer> timeout;
    std::optional<SendResult> fate;  // the daemon's word
    std::string refusal;             // or why it said no
    std::string key;
    std::string print;  // of what has the key
    bool answered() const { return fate.has_value() || !refusal.empty(); }
  };

  // LinkListener
  void on_ready(const client::Session& session) override;
  void on_lost(const std::string& reason, Millis retry_in) override;
  void on_stopped(const Error& why) override;
  client::AckMode on_incoming(const client::IncomingMessage& incoming) override;
  void on_moved(const client::DeliveryRef& place, protocol::DeliveryMode mode) override;
  bool on_cancel(const protocol::CancelCommand& order) override;
  void on_pause(const protocol::PauseCommand& order) override;
  void on_acknowledged(const protocol::Ack& ack) override;
  void on_sent(const std::string& id) override;
  void on_refused(const std::string& id, const protocol::Nack& why) override;
  void on_frame(const protocol::Envelope&) override {}

  void remember_unsent();
  void wait_for_word(const std::string& id, OnSent on_sent);
  void tell(PendingSend& posted);
  void forget_if_done(const std::string& id);
  void bind_key(const std::string& key, const std::string& id, std::string print);
  void free_key(PendingSend& posted);
  void settle();
  void notify_messages();
  void run_early();
  InboxPage letters_for(const InboxQuery& wish);
  void drop_expired();
  [[nodiscard]] HeldMessage* held(std::string_view delivery);
  [[nodiscard]] Failure away() const;

  net::EventLoop& loop_;
  client::Outbox& outbox_;
  StandaloneClientOptions options_;
  RelayClientListener* listener_ = nullptr;
  std::unique_ptr<client::Link> link_;

  std::string error_;       // why the daemon is not there; empty: it is, or has not been tried
  bool sent_away_ = false;  // the daemon refused us for good
  bool paused_ = false;     // by a person
  bool settled_ = false;    // what waited for us when we came has begun to arrive, or there was nothing
  std::unique_ptr<net::Timer> settling_;
  std::vector<net::Task> early_;  // asked before the first answer of the daemon

  std::deque<HeldMessage> held_;
  std::map<std::string, PendingSend> posted_;  // by outbox id
  std::map<std::string, std::string> by_key_;  // key to outbox id
  std::deque<std::string> keys_;               // oldest first
  Lifetime lifetime_;
};

}  // namespace relay::mcp
