/// Brings the host up to date with its agent: reads the screen, tracks prompts and state, then delivers what can be
/// delivered now. Everything that may change what the host knows ends in a call of it.
///
/// Invariants: prompts and state are updated before anything is decided on them; a flood of output is read at
///   intervals, and the last of it always; while a frame is drawn, or output waits for a slow terminal, nothing is
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
  /// In the next turn of the loop.
  void update_soon();
  /// Now, or when the interval since the last one is over.
  void update_paced();
  /// Now, if `update_paced` has deferred it.
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
  std::optional<SteadyTime> prompt_due_;  // when a dialog has stood long enough to be reported
  std::optional<SteadyTime> answer_due_;  // when keys that answer a dialog must have been taken
  std::optional<SteadyTime> notify_due_;  // when the user is to be notified
  std::unique_ptr<net::Timer> timer_;
  std::unique_ptr<net::Timer> pace_timer_;
  Lifetime lifetime_;
};

}  // namespace relay::host
