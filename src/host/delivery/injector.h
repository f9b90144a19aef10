/// Types deliveries into the agent's composer, one at a time, through the gate (injection.h).
///
/// Invariants
/// - The intent is on disk before the first byte; a delivery whose intent cannot be logged is not typed. Entries stay
///   (intent_log.h bounds them), because a report does not mean that the daemon has stored it.
/// - A pending reason is reported when it has changed and lasts, unless it ends in a moment; an outcome exactly once. An
///   expired delivery is not typed.
/// - Written is reported once, when the program has read the bytes. Delivered is reported when the composer emptied or
///   the agent started to work, and again, as seen, when transcript or hook shows the text, even later. A shown text is
///   never in doubt, nor are those typed with it unless the user edited them; evidence before Enter does not count.
/// - A silent delivery is typed only before the text of one that wakes the agent, each on its own line.
/// - The next delivery is typed when the previous one has been seen or its turn has ended; after kTurnTimeout without a
///   turn, or kSeenTimeout where the agent has a transcript, the turn counts as too short to be observed.
/// - The turn that a typed message started is not interrupted for the next message, because the program may drop input
///   that it has not sent. The user's messages interrupt it once that message has been seen.
/// - After kMaxTypedNotices in a row an agent gets another notice only when a command of it succeeded.
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
#include "host/delivery/injection_slot.h"
#include "host/delivery/intent_log.h"
#include "host/delivery/receipt_reporter.h"
#include "host/delivery/silent_deliveries.h"
#include "profiles/compiled_profile.h"
#include "protocol/send.h"

namespace relay::host {

inline constexpr int kMaxTypedNotices = 3;
inline constexpr std::size_t kMaxTyped = 32;  // delivered ones whose evidence may still come
inline constexpr Millis kTurnTimeout{1'000};
inline constexpr Millis kSeenTimeout{10'000};
inline constexpr Millis kUserTextTimeout{4'000};  // for a text of the user to be typed

/// What the injector does to the agent's composer.
class InjectorActions {
 public:
  virtual ~InjectorActions() = default;
  virtual void interrupt() = 0;  // stops the agent's turn
  virtual void paste(std::string_view text) = 0;
  virtual void press_enter() = 0;
  /// Removes up to that many characters before the cursor.
  virtual void erase(std::size_t characters) = 0;
};

class Injector final : public InjectionSlot {
 public:
  Injector(const profiles::TypingRules& rules, IntentLog& intent, InjectorActions& composer, ReceiptReporter& reports)
      : rules_{rules}, intent_{intent}, composer_{composer}, reports_{reports} {}

  void add(Delivery delivery) override;
  [[nodiscard]] bool can_accept() const override { return deliveries_.empty(); }
  /// Also a delivery behind a text of the user.
  std::optional<Delivery> reclaim() override;
  [[nodiscard]] bool has_interrupted() const override {
    return !deliveries_.empty() && deliveries_.back().injection.has_interrupted();
  }
  /// A notice of the relay to the agent; none after too many in a row.
  std::optional<Delivery> make_notice(std::string_view notice);
  /// A text of the user, typed before all deliveries through the same gate, within kUserTextTimeout. `done` is called
  /// once. Not while an injection or another such text is pending.
  void inject_user_text(std::string text, SteadyTime now, std::move_only_function<void(Result<void>)> done);
  /// A command of the agent succeeded: it may get notices again.
  void reset_notices() { notices_ = 0; }

  /// The agent reports a model input with that id.
  void on_model_input(EvidenceMatcher& input, std::string_view via, std::string_view id);
  /// The reference at the daemon has changed.
  void relocate(const client::DeliveryRef& ref);

  /// A started injection is in doubt.
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
    bool drained = true;          // the program has read all input
    bool takes_lines = true;      // a line break in a paste is not an Enter
    HeldKeys keys = {};           // of the user
    bool has_transcript = false;  // the agent's transcript shows model input
  };
  /// Types what can be typed now, with deliveries of `silent`. Returns when to call again without a change; now when the
  /// gate has become free.
  std::optional<SteadyTime> deliver(const View& view, SilentDeliveries& silent);

  /// The first delivery has started.
  [[nodiscard]] bool is_injecting() const {
    return !deliveries_.empty() && deliveries_.front().injection.has_started();
  }
  /// The user's keys would mix with the injected text.
  [[nodiscard]] bool holds_keys() const { return is_injecting() && deliveries_.front().injection.holds_keys(); }
  /// See injection.h.
  [[nodiscard]] std::optional<SteadyTime> sending_until() const override {
    return is_injecting() ? deliveries_.front().injection.sending_until() : std::nullopt;
  }
  [[nodiscard]] bool has_user_text() const { return !deliveries_.empty() && deliveries_.front().done; }
  [[nodiscard]] const std::deque<Delivery>& pending() const { return deliveries_; }

 private:
  [[nodiscard]] static bool composer_matches(const View& view, const Delivery& delivery);
  [[nodiscard]] static bool is_free(const View& view);
  [[nodiscard]] static bool composer_contains(const View& view, const Delivery& delivery);
  struct InjectedDelivery {
    client::DeliveryRef ref;
    std::string intent;
    std::string text;
  };

  /// The last delivery, while neither its turn nor its evidence was seen.
  struct Submitted {
    std::string intent;
    SteadyTime until{};
    bool worked = false;
  };

  [[nodiscard]] static const protocol::Receipt* evidence_for(const Delivery& delivery);
  bool log_intent(const Delivery& delivery);
  [[nodiscard]] bool may_interrupt(const View& view, const Delivery& delivery) const;
  [[nodiscard]] bool turn_is_due(const View& view);
  void expect_turn(const Delivery& delivery, const View& view);
  std::string text_of(Delivery& delivery, const View& view, SilentDeliveries& silent);
  void report_written(Delivery& delivery);
  void finish(Delivery& delivery, protocol::Receipt receipt);
  void execute(const InjectionDecision& decision, Delivery& delivery, const View& view, SilentDeliveries& silent);
  [[nodiscard]] static std::optional<SteadyTime> next_call(const Delivery& delivery, std::optional<SteadyTime> at,
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
  std::uint64_t paste_revision_ = 0;  // the screen's revision at the last paste
  bool unresponsive_ = false;         // the screen has not changed since
  SteadyTime started_turn_at_{};      // start of the turn that the last delivery started
  std::string unseen_text_;           // the last text that is not in `typed_` and has no evidence yet
  SteadyTime stable_from_{};          // the screen must be idle from then on before the next delivery
};

}  // namespace relay::host
