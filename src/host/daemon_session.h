/// The host's session with the daemon: messages and control frames in, receipts, events and the agent's state out.
///
/// Invariants: the daemon learns the agent's state, and why messages are pending, when they change and after each
///   WELCOME; prompts that are open are reported again after each WELCOME (event_reporter.h).
/// Ownership: owns the link; borrows the rest, which outlives it. Threading: loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

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
  /// The host takes part, or never will and why. Called once, and not for an agent that runs without the daemon as
  /// well.
  using OnAdmitted = std::move_only_function<void(Result<void>)>;

  DaemonSession(net::EventLoop& loop, net::Network& network, Random& random, client::Outbox& outbox,
                client::LinkOptions options, Parts parts);

  void start(OnAdmitted on_admitted);
  /// Without a BYE. Nothing may be called afterwards but `error`.
  void close() { link_.reset(); }

  [[nodiscard]] client::Link& link() { return *link_; }
  [[nodiscard]] const client::Link& link() const { return *link_; }
  [[nodiscard]] bool is_ready() const { return link_ && link_->ready(); }
  /// The process of the daemon; 0 while it is not connected.
  [[nodiscard]] pid_t daemon_pid() const { return link_ ? link_->daemon_pid() : 0; }
  /// Why the agent has been running without the relay; empty when it has not.
  [[nodiscard]] const std::string& error() const { return error_; }

  void report(const client::DeliveryRef& delivery, protocol::Receipt receipt) override;
  void report_event(events::Event event, WallMs at);
  /// A prompt was reported, and until then others are not shown it: the daemon has not stored it yet.
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
  /// The daemon has stored a prompt, or is not connected: what was held back is shown.
  void release_state();

  net::EventLoop& loop_;
  std::string agent_;
  Parts parts_;
  OnAdmitted on_admitted_;
  std::string error_;
  bool state_changed_ = false;
  std::string pending_reason_;                             // why messages are pending, as the daemon knows it
  std::string settled_reason_;                             // the same as the delivery history had it then
  std::optional<protocol::DeliveryModes> reported_modes_;  // as the daemon knows them
  SteadyTime store_due_{};                                 // by then the daemon should have stored the last prompt
  std::unique_ptr<client::Link> link_;
};

/// What clients learn of a pause.
[[nodiscard]] std::string pause_event(const protocol::PauseCommand& command);

}  // namespace relay::host
