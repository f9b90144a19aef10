/// Runs an AgentSession: connects it, hands it each message with its context, tells the relay what it answered.
///
/// Why: a program that embeds us should write what its agent does, and nothing about frames, numbers or reconnections.
/// Invariants
///   1. `receive_message` is called once for each attempt of a delivery, in the order the relay sent them, and each
///      call is answered exactly once: by the session, or in its place when it throws or is released. Silence is no
///      answer: after `answer_within` the ledger says that it lasts, and the message is not brought a second time.
///   2. A delivery whose mode the session did not declare never reaches it; it fails as UNSUPPORTED.
///   3. What the session kept (accepted, deferred) when it was released is given back: it comes again to whoever has the
///      name next. What it never answered is in doubt: nobody knows whether it was done.
/// The moments are the relay's business: it sends what is for now, for an idle agent, or for the boundary just named.
/// Ownership: borrows loop, network, random, outbox and session, which outlive it; owns the link. `release` may be called
///   inside any callback; destroying the runner there may not.
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

inline constexpr Millis kAnswerWithin{60'000};

struct RunnerOptions {
  /// Where the daemon is, patience, claim token, window, what HELLO tells beside name and capabilities (those are the
  /// session's). With `capabilities.max_inflight` 1 messages come one at a time.
  client::LinkOptions link;
  Millis receipt_timeout = kAnswerWithin;
  std::string workspace_id = {};  // told in each message
};

enum class Status : std::uint8_t { Starting, Active, Idle, Waiting, Blocked, Paused };
std::string_view name_of(Status status);

class SessionRunner final : private client::LinkListener {
 public:
  /// Refused when the session's capabilities cannot be said.
  static Result<std::unique_ptr<SessionRunner>> create(net::EventLoop& loop, net::Network& network, Random& random,
                                                       client::Outbox& outbox, RunnerOptions options,
                                                       AgentSession& session);
  ~SessionRunner() override;

  /// Begins to connect, and stays connected. Once.
  void start();
  /// Gives back what was kept, says goodbye, and calls the session's `release`. A second call does nothing.
  void release(const std::string& reason);

  /// What became of a delivery that was accepted, or more about one that was delivered.
  void report(const std::string& delivery_id, MessageReceipt receipt);

  /// What the agent does. Idle, Waiting and Blocked are the moments for `on-idle`; while none was ever told every moment
  /// is. Told again after each reconnection.
  void set_status(Status status, std::string reason = {});

  /// The agent is about to read its next message or to call its next tool: what waits for that comes now. `on_reached`
  /// runs once the relay has heard it and has sent what it had at hand, or is away.
  using OnBoundary = std::move_only_function<void()>;
  Result<void> before_next_message(OnBoundary on_reached = {});
  Result<void> before_next_tool_call(OnBoundary on_reached = {});

  /// Says something; goes out when the relay is there. The id by which `on_stored` and `on_receipt` name it.
  Result<std::string> send(const MessageDraft& draft, const protocol::DeliveryOptions& options = {});

  /// The rest of the wire: channels, events, questions.
  [[nodiscard]] client::Link& link() { return *link_; }

 private:
  /// A delivery between `receive_message` and its end.
  struct PendingReceipt {
    std::uint64_t call = 0;  // which answer counts
    bool answered = false;   // the session keeps it
    std::unique_ptr<net::Timer> timeout;
  };

  SessionRunner(net::EventLoop& loop, AgentSession& session, RunnerOptions options);

  // LinkListener
  void on_ready(const client::Session& session) override;
  void on_lost(const std::string& reason, Millis retry_in) override;
  void on_stopped(const Error& why) override;
  client::AckMode on_incoming(const client::IncomingMessage& incoming) override;
  void on_moved(const client::DeliveryRef& place, protocol::DeliveryMode mode) override;
  bool on_cancel(const protocol::CancelCommand& order) override;
  void on_pause(const protocol::PauseCommand& order) override;
  void on_acknowledged(const protocol::Ack& ack) override;
  void on_sent(const std::string&) override {}
  void on_refused(const std::string& id, const protocol::Nack& why) override;
  void on_frame(const protocol::Envelope& envelope) override;

  void hand_over(const RelayMessage& message, const MessageContext& context);
  void report_timeout(const std::string& id);
  void answer(const std::string& id, std::uint64_t call, MessageReceipt receipt);
  void tell(const std::string& id, MessageReceipt receipt);
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
