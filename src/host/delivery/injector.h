/// Types deliveries into the agent's composer, one at a time, through the gate (injection.h).
///
/// Invariants
/// - The intent is on disk before the first byte; a delivery whose intent cannot be logged is not typed. Entries stay
///   (intent_log.h bounds them), because a report does not mean that the daemon has stored it.
/// - A pending reason is reported when it has changed and lasts, unless it passes by itself in a moment; an end exactly
///   once. An expired delivery is not typed.
/// - Written is reported once, when the program has taken the bytes. Delivered is reported when the composer emptied or
///   the agent began to work; and again, as seen, when its transcript or hook shows the text, even some time later. A
///   text that was shown is never in doubt, nor is what was typed with it unless the user edited it; before Enter
///   nothing can show it.
/// - A silent delivery is typed only with one that wakes the agent, before its text, each on its own line.
/// - The next one is typed when the one before it was seen or its turn is over; after kTurnTimeout without a turn, or
///   kSeenTimeout where the agent has a transcript, the turn was too short to be observed.
/// - The turn that a typed message began is not interrupted for the next: the program may drop what it has not yet
///   sent. The user's messages interrupt it once that message was seen.
/// - An agent that answers notices with further mistakes gets no more of them: after kMaxTypedNotices in a row only a
///   command that succeeded allows another.
/// Ownership: borrows rules, intent log, composer and reporter, which outlive it.
/// Threading: loop thread only; the clock is an argument.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/adapter.h"
#include "client/stream_positions.h"
#include "host/delivery/delivery.h"
#include "host/delivery/evidence_matcher.h"
#include "host/delivery/injection.h"
#include "host/delivery/injection_queue.h"
#include "host/delivery/intent_log.h"
#include "host/delivery/receipt_reporter.h"
#include "host/delivery/silent_deliveries.h"
#include "profiles/compiled_profile.h"
#include "protocol/send.h"

namespace relay::host {

inline constexpr int kMaxTypedNotices = 3;
inline constexpr std::size_t kMaxTyped = 32;  // delivered ones that the agent's record may still show
inline constexpr Millis kTurnTimeout{1'000};
inline constexpr Millis kSeenTimeout{10'000};
inline constexpr Millis kSayTimeout{4'000};  // for a text of the user to be typed

/// What the injector does to the agent's composer.
class InjectorActions {
 public:
  virtual ~InjectorActions() = default;
  virtual void interrupt() = 0;  // the agent's turn
  virtual void paste(std::string_view text) = 0;
  virtual void press_enter() = 0;
  /// Removes so many characters before the cursor, and nothing where there are none.
  virtual void erase(std::size_t characters) = 0;
};

class Injector final : public InjectionQueue {
 public:
  Injector(const profiles::TypingRules& rules, IntentLog& intent, InjectorActions& composer, ReceiptReporter& reports)
      : rules_{rules}, intent_{intent}, composer_{composer}, reports_{reports} {}

  void add(Delivery delivery) override;
  [[nodiscard]] bool can_accept() const override { return deliveries_.empty(); }
  /// Also when it stands behind a text of the user's.
  std::optional<Delivery> take_back() override;
  [[nodiscard]] bool has_interrupted() const override {
    return !deliveries_.empty() && deliveries_.back().injection.interrupted();
  }
  /// A notice of the relay to the agent, unless it had too many of them.
  std::optional<Delivery> make_notice(std::string_view sentence);
  /// A text of the user, typed before all deliveries through the same gate, and given up after kSayTimeout. `done` is
  /// called once. Not while something is injected or another such text is pending: there is never more than one.
  void inject_user_text(std::string text, SteadyTime now, std::move_only_function<void(Result<void>)> done);
  /// A command of the agent succeeded: it may get notices again.
  void reset_notices() { notices_ = 0; }

  /// The agent itself reports this as model input, under that id.
  void on_model_input(EvidenceMatcher& shown, std::string_view via, std::string_view id);
  /// Its reference at the daemon has changed.
  void relocate(const client::DeliveryRef& ref);

  /// What was being typed is in doubt.
  void on_agent_exit();

  struct View {
    SteadyTime now{};
    WallMs wall = 0;
    profiles::State state = profiles::State::Unknown;
    profiles::Blocker blocker = profiles::Blocker::Dialog;  // of a blocked one
    SteadyTime since{};
    TypingTimes typing = {};
    const std::optional<profiles::Composer>* composer = nullptr;
    std::uint64_t revision = 0;   // of the screen
    bool drained = true;          // the program has taken all that was written
    bool takes_lines = true;      // a line break in a paste is no Enter
    HeldKeys keys = {};           // of the user
    bool has_transcript = false;  // the agent's transcript shows what its model is given
  };
  /// Does what can be done now; `silent` gives what is typed with a delivery. The time of the next call without any
  /// change; now when the gate has become free.
  std::optional<SteadyTime> deliver(const View& view, SilentDeliveries& silent);

  /// The first delivery has been written, at least in part.
  [[nodiscard]] bool is_injecting() const { return !deliveries_.empty() && deliveries_.front().injection.begun(); }
  /// Keys of the user would mix with it.
  [[nodiscard]] bool holds_keys() const { return is_injecting() && deliveries_.front().injection.holds_keys(); }
  /// injection.h says when.
  [[nodiscard]] std::optional<SteadyTime> sending_until() const override {
    return is_injecting() ? deliveries_.front().injection.sending_until() : std::nullopt;
  }
  [[nodiscard]] bool has_user_text() const { return !deliveries_.empty() && deliveries_.front().done; }
  [[nodiscard]] const std::deque<Delivery>& pending() const { return deliveries_; }

 private:
  [[nodiscard]] static bool holds_ours(const View& view, const Delivery& delivery);
  [[nodiscard]] static bool is_free(const View& view);
  [[nodiscard]] static bool contains_ours(const View& view, const Delivery& delivery);
  struct InjectedDelivery {
    client::DeliveryRef ref;
    std::string intent;
    std::string text;
  };

  /// The last delivery, when neither its turn nor its text in the transcript was seen yet.
  struct Submitted {
    std::string intent;
    SteadyTime until{};
    bool worked = false;
  };

  [[nodiscard]] static const protocol::Receipt* shown_of(const Delivery& delivery);
  bool log_intent(const Delivery& delivery);
  [[nodiscard]] bool may_interrupt(const View& view, const Delivery& delivery) const;
  [[nodiscard]] bool turn_is_due(const View& view);
  void expect_turn(const Delivery& delivery, const View& view);
  std::string text_of(Delivery& delivery, const View& view, SilentDeliveries& silent);
  void report_written(Delivery& delivery);
  void finish(Delivery& delivery, protocol::Receipt receipt);
  void execute(const InjectionDecision& decision, Delivery& delivery, const View& view, SilentDeliveries& silent);
  [[nodiscard]] static std::optional<SteadyTime> again(const Delivery& delivery, std::optional<SteadyTime> at,
                                                       const View& view);
  std::optional<SteadyTime> report_pending(Delivery& delivery, SteadyTime now);

  const profiles::TypingRules& rules_;
  IntentLog& intent_;
  InjectorActions& composer_;
  ReceiptReporter& reports_;
  std::deque<Delivery> deliveries_;
  std::deque<InjectedDelivery> typed_;  // delivered and not seen
  std::optional<Submitted> submitted_;
  int notices_ = 0;
  std::uint64_t pasted_on_ = 0;  // the screen's revision when the last text was written
  bool unresponsive_ = false;    // nothing at all happened there since
  SteadyTime own_turn_{};        // when the turn began that the last one started
  std::string unshown_;          // the last text, when typed_ has it not and the transcript does not show it yet
  SteadyTime settled_from_{};    // the next one waits until the screen has settled again
};

}  // namespace relay::host
