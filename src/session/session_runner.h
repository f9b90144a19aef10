/// Runs an AgentSession: connects it, passes each message with its context to it, and sends the receipts.
///
/// Why: a program that embeds a session implements what its agent does, without frames, numbers or reconnects.
/// Invariants
///   1. `receive_message` is called once for each attempt of a delivery, in the order of arrival. Each call gets
///      exactly one result: from the session, or in its place when it throws or is released. A timeout is not a result:
///      after `receipt_timeout` the delivery history notes that the session has not answered, and the message is not
///      repeated.
///   2. A delivery whose mode the session did not declare never reaches it; it fails as UNSUPPORTED.
///   3. On release, unsettled deliveries (accepted, deferred) are returned: the next session of the name gets them. Those
///      without a result are in doubt.
/// The daemon decides when a message is delivered: at once, when the agent is idle, or at the boundary just reported.
/// Ownership: borrows loop, network, random, outbox and session, which outlive it; owns the link. `release` may be
///   called inside any callback; destroying the runner there may not.
/// Threading: loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/lifetime.h"
#include "client/link.h"
#include "session/agent_session.h"
#include "session/message_draft.h"

namespace relay::session {

inline constexpr Millis kDefaultReceiptTimeout{60'000};

struct RunnerOptions {
  /// The socket, retry limit, claim token, window, and the members of HELLO other than name and capabilities, which are
  /// the session's. With `capabilities.max_inflight` 1 messages come one at a time.
  client::LinkOptions link;
  Millis receipt_timeout = kDefaultReceiptTimeout;
  std::string workspace_id = {};  // set in each message
};

enum class Status : std::uint8_t { Starting, Active, Idle, Waiting, Blocked, Paused };
std::string_view name_of(Status status);

class SessionRunner final : private client::LinkListener {
 public:
  /// Fails when the session's capabilities exceed what HELLO may hold.
  static Result<std::unique_ptr<SessionRunner>> create(net::EventLoop& loop, net::Network& network, Random& random,
                                                       client::Outbox& outbox, RunnerOptions options,
                                                       AgentSession& session);
  ~SessionRunner() override;

  /// Connects and stays connected. Once.
  void start();
  /// Returns unsettled deliveries, sends BYE, and calls the session's `release`. A second call does nothing.
  void release(const std::string& reason);

  /// The result of an accepted delivery, or a stronger proof of a delivered one.
  void report(const std::string& delivery_id, MessageReceipt receipt);

  /// The state of the agent. `on-idle` messages are delivered while it is Idle, Waiting or Blocked, and always while
  /// none was set. It is sent again after each reconnect.
  void set_status(Status status, std::string reason = {});

  /// The agent is about to read its next message or to call its next tool: messages with that mode are delivered now.
  /// `on_reached` runs once the daemon has processed the boundary and sent them, or is offline.
  using OnBoundary = std::move_only_function<void()>;
  Result<void> before_next_message(OnBoundary on_reached = {});
  Result<void> before_next_tool_call(OnBoundary on_reached = {});

  /// Sends a message once the daemon is there. Returns the id that `on_stored` and `on_receipt` use.
  Result<std::string> send(const MessageDraft& draft, const protocol::DeliveryOptions& options = {});

  /// For everything else of the wire: channels, events, requests.
  [[nodiscard]] client::Link& link() { return *link_; }

 private:
  /// A delivery between `receive_message` and its end.
  struct PendingReceipt {
    std::uint64_t call = 0;  // the call whose result counts
    bool answered = false;   // the session accepted or deferred it
    std::unique_ptr<net::Timer> timeout;
  };

  SessionRunner(net::EventLoop& loop, AgentSession& session, RunnerOptions options);

  // LinkListener
  void on_ready(const client::Session& session) override;
  void on_lost(const std::string& reason, Millis retry_in) override;
  void on_stopped(const Error& why) override;
  client::AckMode on_incoming(const client::IncomingMessage& incoming) override;
  void on_moved(const client::DeliveryRef& ref, protocol::DeliveryMode mode) override;
  bool on_cancel(const protocol::CancelCommand& command) override;
  void on_pause(const protocol::PauseCommand& command) override;
  void on_acknowledged(const protocol::Ack& ack) override;
  void on_sent(const std::string&) override {}
  void on_refused(const std::string& id, const protocol::Nack& why) override;
  void on_frame(const protocol::Envelope& envelope) override;

  void deliver_to_session(const RelayMessage& message, const MessageContext& context);
  void report_timeout(const std::string& id);
  void answer(const std::string& id, std::uint64_t call, MessageReceipt receipt);
  void send_receipt(const std::string& id, MessageReceipt receipt);
  Result<void> report_status(std::string_view boundary = {});
  Result<void> report_boundary(std::string_view boundary, OnBoundary on_reached);

  net::EventLoop& loop_;
  AgentSession& session_;
  RunnerOptions options_;
  std::string name_;
  protocol::DeliveryModes modes_;
  std::optional<Status> status_;
  std::string status_reason_;
  bool released_ = false;
  std::uint64_t calls_ = 0;
  std::map<std::string, PendingReceipt, std::less<>> unsettled_;
  std::unique_ptr<client::Link> link_;  // calls into everything above, so it dies first
  Lifetime lifetime_;
};

}  // namespace relay::session
