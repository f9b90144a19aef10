/// Updates the host after a change: reads the screen, updates prompts and state, then delivers what can be delivered
/// now. Every change of the agent, its deliveries or the daemon ends in a call of it.
///
/// Invariants: prompts and state are updated before anything is decided on them; a flood of output is read at
///   intervals and always to its end; while a frame is drawn, or output is paused for a slow terminal, nothing is
///   delivered.
/// Ownership: borrows its parts, which outlive it. Threading: loop thread only.
#pragma once

#include <memory>
#include <optional>

#include "base/lifetime.h"
#include "host/delivery/pipeline.h"
#include "host/prompts/dialog_driver.h"
#include "host/prompts/terminal_notifier.h"
#include "host/screen/agent_input.h"
#include "net/event_loop.h"
#include "profiles/screen_watcher.h"

namespace relay::host {

class AdapterBridge;
class AgentCommands;
class AgentState;
class DaemonSession;
class HostServer;
class ScreenMonitor;
class SessionEnd;
class TerminalRelay;

class AgentUpdater {
 public:
  struct Parts {
    ScreenMonitor& monitor;
    AgentState& state;
    AgentInput& input;
    AgentCommands& commands;
    AdapterBridge& adapter;
    DeliveryPipeline& pipeline;
    DialogDriver& answers;
    DaemonSession& session;
    HostServer& server;
    TerminalRelay& terminal;
    SessionEnd& end;
  };
  /// `is_typed_into`: a profile describes the program.
  AgentUpdater(net::EventLoop& loop, TerminalNotifier notifier, bool is_typed_into, Parts parts)
      : loop_{loop}, notifier_{std::move(notifier)}, is_typed_into_{is_typed_into}, parts_{parts} {}

  void update();
  /// The adapter reported a change of state, prompts or capabilities.
  void on_adapter_changed();
  /// In the next turn of the loop.
  void update_soon();
  /// Now, or when the minimum interval has passed.
  void update_paced();
  /// Now, if `update_paced` deferred one.
  void update_if_paced();
  /// The program has ended: reads the last of its screen.
  void finish();

  [[nodiscard]] DeliveryPipeline::View delivery_view();
  [[nodiscard]] DialogDriver::View answer_view() const;

 private:
  [[nodiscard]] SteadyTime now() const { return loop_.now().steady; }
  void observe(const profiles::Observation& observation);
  void report_usage(const profiles::ScreenUsage& usage);
  void notify_user();
  void deliver();
  [[nodiscard]] KeyHold keys_to_hold() const;
  void schedule(std::optional<SteadyTime> at);

  net::EventLoop& loop_;
  TerminalNotifier notifier_;
  bool is_typed_into_;
  Parts parts_;
  std::optional<SteadyTime> prompt_due_;  // a dialog has been open long enough to be reported
  std::optional<SteadyTime> answer_due_;  // when keys that answer a dialog must have had an effect
  std::optional<SteadyTime> notify_due_;  // the user is notified
  std::unique_ptr<net::Timer> timer_;
  std::unique_ptr<net::Timer> pace_timer_;
  Lifetime lifetime_;
};

}  // namespace relay::host
