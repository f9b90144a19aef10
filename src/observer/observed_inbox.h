/// Delivers messages to an observed agent via the inbox of its agent CLI: the session socket of Claude Code.
///
///     Link ─▶ host::DeliveryPipeline ─▶ adapters::ClaudeInbox ─▶ the agent
///                 ▲── its transcript shows the text: delivered, seen
///
/// Why: the inbox exists without agent-relay, so an agent that was started without it can get messages. It has no
///   terminal of a host, so nothing is typed: a message that the inbox does not take stays pending with the reason.
/// Invariants: the only mode is on-idle, and only messages of the user come here (docs/security.md); Claude Code
///   presents them as a peer's (docs/agents.md). The intent is on disk before a text is written, and stays: neither a
///   crash nor a resumed session delivers a text twice.
/// Ownership: borrows loop, link and state_directory, which outlive it. Threading: loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/claude_inbox.h"
#include "base/directory.h"
#include "base/lifetime.h"
#include "client/link.h"
#include "host/delivery/pipeline.h"
#include "net/asio_loop.h"

namespace relay::observer {

/// The config directory of Claude Code that holds this transcript; empty when it lies elsewhere.
std::string claude_config_of(std::string_view transcript);

class ObservedInbox final : private host::ReceiptReporter,
                            private host::InjectorActions,
                            private adapters::DeliveryTarget {
 public:
  /// `file`: of the intent log; `session`: the agent's own session id. `on_failed`: the inbox failed.
  ObservedInbox(net::AsioLoop& loop, client::Link& link, Directory& state_directory, std::string file,
                std::string session, std::function<void()> on_failed);
  ~ObservedInbox() override;
  ObservedInbox(const ObservedInbox&) = delete;
  ObservedInbox& operator=(const ObservedInbox&) = delete;

  /// Checks whether the inbox exists there. True when that has changed.
  bool find(const std::string& config_directory, pid_t agent);
  /// Messages can be delivered.
  [[nodiscard]] bool is_open() const { return open_; }

  void set_state(profiles::State state);
  void on_connected();
  void on_incoming(const client::IncomingMessage& incoming);
  void on_moved(const client::DeliveryRef& ref, protocol::DeliveryMode mode);
  [[nodiscard]] bool on_cancel(const protocol::CancelCommand& command);
  void on_pause(const protocol::PauseCommand& command);
  /// The transcript shows this model input.
  void on_model_input(std::string_view text, std::string_view id);
  /// Deliveries without evidence are in doubt.
  void on_agent_exit();

 private:
  void update();
  void update_soon();
  [[nodiscard]] adapters::NativeCapabilities capabilities() const;

  void deliver(const adapters::NativeDelivery& delivery, OnAccepted done) override;
  void report(const client::DeliveryRef& ref, protocol::Receipt receipt) override;
  void interrupt() override {}  // nothing is typed
  void paste(std::string_view) override {}
  void press_enter() override {}
  void erase(std::size_t) override {}

  net::AsioLoop& loop_;
  client::Link& link_;
  std::string session_;
  std::function<void()> on_failed_;
  profiles::TypingRules rules_;
  host::DeliveryPipeline pipeline_;
  std::unique_ptr<adapters::ClaudeInbox> inbox_;
  std::string config_;
  pid_t agent_ = 0;
  bool open_ = false;
  profiles::State state_ = profiles::State::Unknown;
  SteadyTime since_{};
  std::unique_ptr<net::Timer> timer_;
  Lifetime lifetime_;
};

}  // namespace relay::observer
