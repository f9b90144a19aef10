/// All deliveries of one agent, from DELIVER to the final receipt: copied, formatted, scheduled, delivered.
///
///     daemon ──IncomingMessage──▶ DeliveryPipeline ─▶ DeliveryScheduler ─▶ DeliveryTarget (the adapter)
///                                     │                      └──────────▶ Injector, the gate ─▶ paste, Enter
///                                     └ InboxFile, MessageFiles, IntentLog
///
/// Invariants: a delivery is in the scheduler or in the injector; one that has not started can still be fetched.
/// Ownership: borrows directories, rules and outputs, which outlive it. Threading: loop thread only; the clock is an
///   argument.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/adapter.h"
#include "host/control/host_protocol.h"
#include "host/delivery/inbox_file.h"
#include "host/delivery/injector.h"
#include "host/delivery/intent_log.h"
#include "host/delivery/message_files.h"
#include "host/delivery/scheduler.h"
#include "protocol/control.h"
#include "text/json_writer.h"

namespace relay::host {

inline constexpr Millis kPauseGrace{1'000};  // for a reconnected daemon to repeat a pause
/// Of a silent message, so that it fits into one paste with most others.
inline constexpr std::size_t kMaxSilentTextBytes = 2'000;

inline constexpr int kMaxNotices = 100;  // in a row, in the inbox file

/// The files of the pipeline.
struct PipelinePaths {
  Directory& state_directory;  // holds the intent log
  std::string intent_file;
  Directory* inbox = nullptr;  // for copies; null: no copies
  std::string project_root;
  std::vector<std::string> long_texts;  // path below project_root
};

/// The agent at the time of a delivery.
struct PipelineView {
  SteadyTime now{};
  WallMs wall = 0;
  profiles::State state = profiles::State::Unknown;       // by screen and native interfaces
  profiles::State screen = profiles::State::Unknown;      // by the screen alone
  profiles::Blocker blocker = profiles::Blocker::Dialog;  // of a blocked one
  SteadyTime since{};
  TypingTimes typing = {};
  const std::optional<profiles::Composer>* composer = nullptr;
  std::uint64_t revision = 0;  // of the screen
  HeldKeys keys = {};          // of the user
  bool drained = true;         // the program has read all input
  bool takes_lines = true;     // a line break in a paste is not an Enter
  adapters::NativeCapabilities can = {};
  bool typed_into = true;  // false: the program has no profile
};

/// Where deliveries and receipts go; all outlive the pipeline.
struct PipelineOutputs {
  adapters::DeliveryTarget* native = nullptr;  // null without a native interface
  InjectorActions& composer;
  ReceiptReporter& reports;
  /// The adapter reported a change: `deliver` should be called in the next turn of the loop.
  std::function<void()> request_update = [] {};
  /// The agent as it is now, for a hook that delivers messages.
  std::function<PipelineView()> view = [] { return PipelineView{}; };
  /// The daemon did not repeat a pause in time, so it has ended.
  std::function<void()> on_pause_lapsed = [] {};
};

class DeliveryPipeline final : public adapters::DeliveryListener {
 public:
  DeliveryPipeline(PipelinePaths paths, const profiles::TypingRules& rules, PipelineOutputs outputs);

  /// Reads the intent log and the inbox file of the previous host.
  Result<void> open();

  /// Adds a message for the agent. Returns it as sent.
  IncomingMessage receive(const client::IncomingMessage& incoming, WallMs now);
  /// The user pauses or unpauses the agent.
  void pause(const protocol::PauseCommand& command);
  /// The daemon repeats a pause after a reconnect; one that it does not repeat within kPauseGrace has ended.
  void on_connected(SteadyTime now);
  /// The mode of a delivery has changed.
  void move(const client::DeliveryRef& ref, protocol::DeliveryMode mode);
  /// False when the delivery has started, which continues.
  bool cancel(std::string_view id) { return scheduler_.cancel(id); }
  /// A notice of the relay to the agent: typed, or in its inbox file where nothing is typed into the program. Their
  /// number in a row is limited.
  void notify_agent(std::string_view notice, bool typed_into, WallMs now);
  /// A command of the agent succeeded: it may get notices again.
  void reset_notices() {
    injector_.reset_notices();
    notices_ = 0;
  }

  using View = PipelineView;
  /// Delivers what can be delivered now. Returns when to call again without a change.
  std::optional<SteadyTime> deliver(const View& view);

  std::string take_pending(protocol::DeliveryMode mode, std::size_t max_bytes) override;
  void on_model_input(std::string_view text, std::string_view via, std::string_view id) override;
  void on_returned(const std::vector<std::string>& ids, std::string_view reason) override;
  /// A fetch by the agent. Fetched messages are delivered with `on_fetched`, after the response has been sent.
  void fetch(const FetchMessages& request, text::JsonWriter& response);
  void on_fetched() { scheduler_.on_fetched(); }
  void on_agent_exit();

  /// Types a text of the user now (injector.h). Not while `busy`.
  void inject_user_text(std::string text, SteadyTime now, std::move_only_function<void(Result<void>)> done);
  /// A delivery is being typed, or a text of the user is pending.
  [[nodiscard]] bool busy() const { return injector_.is_injecting() || injector_.has_user_text(); }
  [[nodiscard]] bool is_injecting() const { return injector_.is_injecting(); }
  [[nodiscard]] bool holds_keys() const { return injector_.holds_keys(); }

  /// Why the first delivery is pending; empty without one, or when the agent accepted it and evidence is due.
  [[nodiscard]] std::string pending_reason() const;
  /// The reason in the delivery history, which changes only when a reason lasts.
  [[nodiscard]] std::string lasting_reason() const;
  /// Writes `pending`, each with its interface, and `paused`. `typed_via`: the interface of typed deliveries.
  void describe(text::JsonWriter& out, const adapters::NativeCapabilities& can, std::string_view typed_via) const;

 private:
  [[nodiscard]] Injection injection_for(protocol::DeliveryMode mode) const;
  [[nodiscard]] static DeliveryScheduler::View scheduler_view(const View& view);
  [[nodiscard]] static profiles::State gate_state(const View& view);
  [[nodiscard]] std::vector<const Delivery*> pending() const;
  [[nodiscard]] std::vector<const Delivery*> fetchable() const;
  [[nodiscard]] const Delivery* first_pending() const;

  const profiles::TypingRules& rules_;
  MessageFiles long_texts_;
  IntentLog intent_;
  std::unique_ptr<InboxFile> inbox_;
  Injector injector_;
  DeliveryScheduler scheduler_;
  std::function<void()> request_update_;
  std::function<PipelineView()> view_;
  std::function<void()> on_pause_lapsed_;
  std::optional<SteadyTime> pause_lapses_;
  int notices_ = 0;  // in the inbox file since the last successful command
};

}  // namespace relay::host
