/// The host's session with the daemon: messages and control frames in, receipts, events and the agent's state out.
///
/// Invariants: the session reports the agent's state, and why messages are pending, when they change and after each
///   WELCOME; it reports open prompts again after each WELCOME (event_reporter.h).
/// Ownership: owns the link; borrows the rest, which outlives it. Threading: loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/lifetime.h"
#include "client/link.h"
#include "events/event.h"
#include "host/delivery/receipt_reporter.h"

namespace relay::host {

class AdapterBridge;
class AgentState;
class AgentUpdater;
class CommandExecutor;
class CommandFeedback;
class DeliveryPipeline;
class EventReporter;
class HostServer;
class SessionEnd;

class DaemonSession final : public client::LinkListener, public ReceiptReporter {
 public:
  struct Parts {
    DeliveryPipeline& pipeline;
    AdapterBridge& adapter;
    AgentState& state;
    AgentUpdater& updater;
    HostServer& server;
    EventReporter& reporter;
    CommandExecutor& executor;
    CommandFeedback& feedback;
    SessionEnd& end;
  };
  /// The daemon has admitted the agent, or the error. Called once; null for an agent that also runs without the daemon.
  using OnAdmitted = std::move_only_function<void(Result<void>)>;

  DaemonSession(net::EventLoop& loop, net::Network& network, Random& random, client::Outbox& outbox,
                client::LinkOptions options, Parts parts);

  void start(OnAdmitted on_admitted);
  /// Without a BYE. Only `error` may be called afterwards.
  void close() { link_.reset(); }

  [[nodiscard]] client::Link& link() { return *link_; }
  [[nodiscard]] const client::Link& link() const { return *link_; }
  [[nodiscard]] bool is_ready() const { return link_ && link_->ready(); }
  /// The process of the daemon; 0 while it is not connected.
  [[nodiscard]] pid_t daemon_pid() const { return link_ ? link_->daemon_pid() : 0; }
  /// The error that stopped the link; empty without one.
  [[nodiscard]] const std::string& error() const { return error_; }

  void report(const client::DeliveryRef& delivery, protocol::Receipt receipt) override;
  /// Without a daemon no rule can decide a permission, so the agent may show its dialog.
  void report_event(events::Event event, WallMs at);
  /// The daemon has not stored a reported prompt yet; until then `blocked` is held back.
  [[nodiscard]] std::optional<SteadyTime> storing_until(SteadyTime now) const;

  /// The state is reported with the next `report_changes`.
  void mark_state_changed() { state_changed_ = true; }
  /// Reports the state when it, or the reason why messages are pending, has changed.
  void report_changes();

 private:
  void on_ready(const client::Session& session) override;
  void on_lost(const std::string& reason, Millis retry_in) override;
  void on_stopped(const Error& why) override;
  client::AckMode on_incoming(const client::IncomingMessage& incoming) override;
  void on_moved(const client::DeliveryRef& delivery, protocol::DeliveryMode mode) override;
  bool on_cancel(const protocol::CancelCommand& command) override;
  void on_pause(const protocol::PauseCommand& command) override;
  void on_event_acked() override;
  void on_sent(const std::string& id) override;
  void on_refused(const std::string& id, const protocol::Nack& why) override;
  void on_frame(const protocol::Envelope& envelope) override;
  void report_state();
  /// The daemon has stored a prompt, or is not connected: the held-back state becomes visible.
  void release_state();

  net::EventLoop& loop_;
  std::string agent_;
  Parts parts_;
  OnAdmitted on_admitted_;
  std::string error_;
  bool state_changed_ = false;
  std::string pending_reason_;                             // why messages are pending, as reported last
  std::string lasting_reason_;                             // as the delivery history had it then
  std::optional<protocol::DeliveryModes> reported_modes_;  // as reported last
  SteadyTime store_due_{};                                 // deadline for the daemon to store the last prompt
  std::unique_ptr<client::Link> link_;
  Lifetime lifetime_;
};

/// The `pause` event for clients.
[[nodiscard]] std::string pause_event(const protocol::PauseCommand& command);

}  // namespace relay::host
