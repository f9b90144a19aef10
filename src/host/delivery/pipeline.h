/// All mail of one agent, from the moment it comes until its end is told: kept as a copy, made into text, sorted, typed.
///
///     daemon ──Incoming──▶ MailDesk ─▶ Sorter ─▶ its own doors (hand_over)
///                             │           └────▶ Mailroom, the gate ─▶ paste, Enter
///                             └ InboxFile, LongTexts, Intent
///
/// Invariants: a letter is in one place, sorter or mailroom; what nobody has begun to bring can still be fetched.
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

inline constexpr Millis kPauseGrace{1'000};  // a daemon that still wants it says so again by then
inline constexpr std::size_t kMaxQuietTextBytes =
    2'000;  // of what goes along with others: most of these leave that room

inline constexpr int kMaxNotices = 100;  // in a row, in the inbox file

/// Where its files lie.
struct PipelinePaths {
  Directory& notes;  // holds the note of intent
  std::string intent_file;
  Directory* inbox = nullptr;  // of the copies; none: none are kept
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
  DeliveryPipeline(PipelinePaths places, const profiles::TypingRules& rules, PipelineOutputs outputs);

  /// Reads what a predecessor left behind.
  Result<void> open();

  /// A message for the agent, as it was written.
  IncomingMessage receive(const client::IncomingMessage& incoming, WallMs now);
  /// Nothing new reaches the agent, or all goes on.
  void pause(const protocol::PauseCommand& order);
  /// The daemon is there again. It tells only pauses: one that is not told again soon was lifted meanwhile.
  void on_connected(SteadyTime now);
  /// It waits for another moment now.
  void move(const client::DeliveryRef& place, protocol::DeliveryMode mode);
  /// It is not wanted any more; what has begun goes on.
  bool cancel(std::string_view delivery) { return sorter_.cancel(delivery); }
  /// A notice of the relay to the agent: typed, or written into its inbox file where nothing is typed to the program. The agent
  /// gets a limited number of them in a row.
  void explain(std::string_view sentence, bool typed_into, WallMs now);
  /// Something it said was taken: explanations are worth giving again.
  void understood() {
    mailroom_.understood();
    notices_ = 0;
  }

  /// How things stand.
  struct View {
    SteadyTime now{};
    WallMs wall = 0;
    profiles::State state = profiles::State::Unknown;      // by all that is known
    profiles::State screen = profiles::State::Unknown;     // as it is drawn
    profiles::Blocker blocker = profiles::Blocker::Known;  // of a blocked one
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
  /// Does what can be done now. When to be asked again without any change.
  std::optional<SteadyTime> deliver(const View& view);

  /// The agent's hook is here: what waits for it.
  std::string take_for_hook(protocol::DeliveryMode mode, std::size_t max_bytes, const View& view);
  /// The agent itself says that this was put before its model, and under which id it does.
  void on_model_input(std::string_view text, std::string_view way, std::string_view id);
  /// The agent gave them back unread.
  void on_returned(const std::vector<std::string>& deliveries, std::string_view reason) {
    sorter_.on_returned(deliveries, reason);
  }
  /// To the agent that asks for it. When `answer` has gone out `on_mail_given` follows: only then is it delivered.
  void fetch(const FetchMessages& wish, text::JsonWriter& answer);
  void on_fetched() { sorter_.on_fetched(); }
  void on_agent_exit();

  /// A person's words, to be typed now, when nothing else is (mailroom.h).
  void inject_user_text(std::string text, SteadyTime now, std::move_only_function<void(Result<void>)> done);
  /// Something is being typed, or a person waits for it.
  [[nodiscard]] bool busy() const { return mailroom_.is_injecting() || mailroom_.saying(); }
  [[nodiscard]] bool is_injecting() const { return mailroom_.is_injecting(); }
  [[nodiscard]] bool holds_keys() const { return mailroom_.holds_keys(); }

  /// Why the first message waits now; nothing when none does, or when the agent has it and it will not for long.
  [[nodiscard]] std::string waiting_reason() const;
  /// The same as the history tells it, which changes only when a reason has lasted: worth to be told.
  [[nodiscard]] std::string settled_reason() const;
  /// `waiting`, each with the way it will go by, and `paused` when it is. `typed_way`: of what has to be typed.
  void describe(text::JsonWriter& out, const adapters::NativeCapabilities& can, std::string_view typed_way) const;

 private:
  [[nodiscard]] Injection injection_for(protocol::DeliveryMode mode) const;
  [[nodiscard]] static DeliveryScheduler::View sorting(const View& view);
  [[nodiscard]] static profiles::State at_gate(const View& view);
  [[nodiscard]] std::vector<const Delivery*> waiting() const;
  [[nodiscard]] std::vector<const Delivery*> fetchable() const;
  [[nodiscard]] const Delivery* first_waiting() const;

  const profiles::TypingRules& rules_;
  MessageFiles long_texts_;
  IntentLog intent_;
  std::unique_ptr<InboxFile> inbox_;
  Injector mailroom_;
  DeliveryScheduler sorter_;
  std::function<void()> on_pause_lapsed_;
  std::optional<SteadyTime> pause_lapses_;
  int notices_ = 0;  // in the inbox file since something the agent said was taken
};

}  // namespace relay::host
