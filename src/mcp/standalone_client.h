/// The RelayClient outside a hosted agent: a session of this program, on a link with a durable outbox.
///
/// Invariants
/// - A message that `send` accepted is in the outbox and is transmitted when the daemon is online, even after a restart
///   of either. The callback gets `stored` when the daemon acknowledges in time, else `spooled`.
/// - A key is sent once while this program and its outbox exist; no other message is sent under it, unless the
///   first was refused.
/// - The daemon holds the messages. At most kWindow of them are loaded, each with only the part of its body that a
///   result can contain (16 MiB in all) and the names of its files; they are acknowledged when they are taken. While
///   the window is full there may be more.
/// - Every delivery mode arrives at once: the model polls, and each poll counts as idle, as its next message and as its
///   next tool call. A wait is not ended while the user has paused this client, by silent kinds, or by messages held
///   until they are fetched or flushed; the inbox always returns them.
/// - A message that was spooled and is refused later becomes a notice in the inbox.
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
  /// Sends BYE; no callback runs afterwards.
  void stop() { link_->stop(); }

  [[nodiscard]] ClientStatus status() const override;
  void send(protocol::OutgoingSend message, OnSent on_sent) override;
  void inbox(InboxQuery query, OnInbox on_inbox) override;
  void request(protocol::MessageType type, std::string payload, Millis timeout, OnReply on_reply) override;

 private:
  /// A message and the delivery to acknowledge; a notice of the relay has no ref.
  struct HeldMessage {
    InboxMessage message;
    std::optional<client::DeliveryRef> ref;
    std::optional<WallMs> expires_at = {};
    WallMs deadline = 0;  // of the message; 0: none
  };
  /// A message in the outbox that the daemon has not answered, or that has a key.
  struct PendingSend {
    std::string to;
    std::vector<OnSent> waiting;
    std::unique_ptr<net::Timer> timeout;
    std::optional<SendResult> result;  // once the daemon stored it
    std::string refusal;               // why the daemon refused it
    std::string key;
    std::string fingerprint;  // of the message with the key
    bool answered() const { return result.has_value() || !refusal.empty(); }
  };

  // LinkListener
  void on_ready(const client::Session& session) override;
  void on_lost(const std::string& reason, Millis retry_in) override;
  void on_stopped(const Error& why) override;
  client::AckMode on_incoming(const client::IncomingMessage& incoming) override;
  void on_moved(const client::DeliveryRef& ref, protocol::DeliveryMode mode) override;
  bool on_cancel(const protocol::CancelCommand& command) override;
  void on_pause(const protocol::PauseCommand& command) override;
  void on_acknowledged(const protocol::Ack& ack) override;
  void on_sent(const std::string& id) override;
  void on_refused(const std::string& id, const protocol::Nack& why) override;
  void on_frame(const protocol::Envelope&) override {}

  void remember_unsent();
  void wait_for_response(const std::string& id, OnSent on_sent);
  void notify(PendingSend& pending);
  void forget_if_done(const std::string& id);
  void bind_key(const std::string& key, const std::string& id, std::string fingerprint);
  void free_key(PendingSend& pending);
  void mark_inbox_ready();
  void notify_messages();
  void run_deferred();
  InboxPage page_for(const InboxQuery& query);
  void drop_expired();
  [[nodiscard]] HeldMessage* held(std::string_view delivery);
  [[nodiscard]] Failure unreachable_error() const;

  net::EventLoop& loop_;
  client::Outbox& outbox_;
  StandaloneClientOptions options_;
  RelayClientListener* listener_ = nullptr;
  std::unique_ptr<client::Link> link_;

  std::string error_;         // why the daemon is not connected; empty: it is, or was not tried yet
  bool rejected_ = false;     // the daemon refused the session permanently
  bool paused_ = false;       // by the user
  bool inbox_ready_ = false;  // the first pending messages arrived, or there are none
  std::unique_ptr<net::Timer> inbox_timer_;
  std::vector<net::Task> deferred_;  // requests made before the daemon responded

  std::deque<HeldMessage> held_;
  std::map<std::string, PendingSend> sends_;   // by outbox id
  std::map<std::string, std::string> by_key_;  // key to outbox id
  std::deque<std::string> keys_;               // oldest first
  Lifetime lifetime_;
};

}  // namespace relay::mcp
