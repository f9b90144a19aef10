/// All deliveries of one agent, from their arrival until their end is reported: copied, rendered, scheduled, delivered.
///
///     daemon ──IncomingMessage──▶ DeliveryPipeline ─▶ DeliveryScheduler ─▶ DeliveryTarget (the adapter)
///                                     │                      └──────────▶ Injector, the gate ─▶ paste, Enter
///                                     └ InboxFile, MessageFiles, IntentLog
///
/// Invariants: a delivery is in one place, scheduler or injector; one that has not begun can still be fetched.
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

inline constexpr Millis kPauseGrace{1'000};  // a daemon that still pauses the agent repeats it by then
/// Of a silent message: most messages leave that room in a paste.
inline constexpr std::size_t kMaxSilentTextBytes = 2'000;

inline constexpr int kMaxNotices = 100;  // in a row, in the inbox file

/// Where its files are.
struct PipelinePaths {
  Directory& notes;  // holds the intent log
  std::string intent_file;
  Directory* inbox = nullptr;  // of the copies; none: no copies
  std::string project_root;
  std::vector<std::string> long_texts;  // below it
};

/// Where deliveries and receipts go; all outlive the pipeline.
struct PipelineOutputs {
  adapters::DeliveryTarget* native = nullptr;  // the agent's own interface; none: it has none
  InjectorActions& composer;
  ReceiptReporter& reports;
  /// The daemon did not repeat in time that the agent is paused, so it is not.
  std::function<void()> on_pause_lapsed = [] {};
};

class DeliveryPipeline final {
 public:
  DeliveryPipeline(PipelinePaths paths, const profiles::TypingRules& rules, PipelineOutputs outputs);

  /// Reads the intent log and the inbox file of the host before this one.
  Result<void> open();

  /// A message for the agent. Returns it as its sender wrote it.
  IncomingMessage receive(const client::IncomingMessage& incoming, WallMs now);
  /// The user pauses or unpauses the agent.
  void pause(const protocol::PauseCommand& command);
  /// The daemon repeats only pauses that hold: one that it does not repeat within kPauseGrace was lifted meanwhile.
  void on_connected(SteadyTime now);
  /// Its mode has changed.
  void move(const client::DeliveryRef& ref, protocol::DeliveryMode mode);
  /// False when its delivery has begun, which continues.
  bool cancel(std::string_view id) { return scheduler_.cancel(id); }
  /// A notice of the relay to the agent: typed, or written into its inbox file where nothing is typed to the program.
  /// The agent gets a limited number of them in a row.
  void notify_agent(std::string_view sentence, bool typed_into, WallMs now);
  /// A command of the agent succeeded: it may get notices again.
  void reset_notices() {
    injector_.reset_notices();
    notices_ = 0;
  }

  struct View {
    SteadyTime now{};
    WallMs wall = 0;
    profiles::State state = profiles::State::Unknown;      // by all that is known
    profiles::State screen = profiles::State::Unknown;     // as it is drawn
    profiles::Blocker blocker = profiles::Blocker::Dialog;  // of a blocked one
    SteadyTime since{};
    TypingTimes typing = {};
    const std::optional<profiles::Composer>* composer = nullptr;
    std::uint64_t revision = 0;  // of the screen
    HeldKeys keys = {};          // of the user
    bool drained = true;         // the program has taken all that was written
    bool takes_lines = true;     // a line break in a paste is no Enter
    adapters::NativeCapabilities can = {};
    bool typed_into = true;  // false: no profile describes the program
  };
  /// Does what can be done now. The time of the next call without any change.
  std::optional<SteadyTime> deliver(const View& view);

  /// For a hook that has called: the pending deliveries of its mode.
  std::string take_for_hook(protocol::DeliveryMode mode, std::size_t max_bytes, const View& view);
  /// The agent itself reports this as model input, under that id.
  void on_model_input(std::string_view text, std::string_view via, std::string_view id);
  /// The agent returned them unread.
  void on_returned(const std::vector<std::string>& ids, std::string_view reason) {
    scheduler_.on_returned(ids, reason);
  }
  /// For the agent that fetches. `on_fetched` follows when the answer was sent: only then are they delivered.
  void fetch(const FetchMessages& request, text::JsonWriter& answer);
  void on_fetched() { scheduler_.on_fetched(); }
  void on_agent_exit();

  /// A text of the user, to be typed now (injector.h). Not while `busy`.
  void inject_user_text(std::string text, SteadyTime now, std::move_only_function<void(Result<void>)> done);
  /// A delivery is being typed, or a text of the user is pending.
  [[nodiscard]] bool busy() const { return injector_.is_injecting() || injector_.has_user_text(); }
  [[nodiscard]] bool is_injecting() const { return injector_.is_injecting(); }
  [[nodiscard]] bool holds_keys() const { return injector_.holds_keys(); }

  /// Why the first delivery is pending; empty when none is, or when the agent has it and will show it soon.
  [[nodiscard]] std::string pending_reason() const;
  /// The same as the delivery history has it, which changes only when a reason lasts.
  [[nodiscard]] std::string settled_reason() const;
  /// `pending`, each with the interface it will use, and `paused`. `typed_via`: the interface of those that are typed.
  void describe(text::JsonWriter& out, const adapters::NativeCapabilities& can, std::string_view typed_via) const;

 private:
  [[nodiscard]] Injection injection_for(protocol::DeliveryMode mode) const;
  [[nodiscard]] static DeliveryScheduler::View sorting(const View& view);
  [[nodiscard]] static profiles::State at_gate(const View& view);
  [[nodiscard]] std::vector<const Delivery*> pending() const;
  [[nodiscard]] std::vector<const Delivery*> fetchable() const;
  [[nodiscard]] const Delivery* first_pending() const;

  const profiles::TypingRules& rules_;
  MessageFiles long_texts_;
  IntentLog intent_;
  std::unique_ptr<InboxFile> inbox_;
  Injector injector_;
  DeliveryScheduler scheduler_;
  std::function<void()> on_pause_lapsed_;
  std::optional<SteadyTime> pause_lapses_;
  int notices_ = 0;  // in the inbox file since the last command that succeeded
};

}  // namespace relay::host
