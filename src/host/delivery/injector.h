/// Messages waiting for their moment, in order: one at a time stands before the gate (injection.h).
///
/// Invariants
/// - The note of intent is on disk before the first byte; what cannot be noted is not typed. Notes stay (intent.h bounds
///   them): nobody knows when the daemon has stored what we told it.
/// - Why a message waits is reported when the reason changes and lasts, unless it passes by itself in a moment; its end
///   exactly once. What expired is not typed.
/// - Written is told once, when the program has taken the bytes. Delivered is told when the composer emptied or the agent
///   began to work; and once more, as seen, when its record or hook shows the text, also some time later. What was
///   shown is never in doubt, nor is what went with it unless a person edited it; before Enter was pressed nothing can
///   show it.
/// - A quiet letter is typed only in company: before the text of one that wakes the agent, each on its own line.
/// - The next one is typed when the one before it was seen or its turn is over; after kTurnPatience without a turn, or
///   kSeenPatience where the agent has a transcript, the turn was too short to be observed.
/// - The turn that a typed message began is not interrupted for the next: the program may drop what it has not yet sent. The
///   user's messages interrupt it once that message was seen.
/// - An agent that answers explanations with further mistakes is not answered for ever: after kMaxExplanations in a row
///   only a message that was taken gives it another.
/// Ownership: borrows rules, intent log, composer and reporter, which outlive it. Threading: loop thread only; the clock is an argument.
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

inline constexpr int kMaxExplanations = 3;
inline constexpr std::size_t kMaxTyped = 32;  // delivered ones that the agent's record may still show
inline constexpr Millis kTurnTimeout{1'000};
inline constexpr Millis kSeenTimeout{10'000};
inline constexpr Millis kSayTimeout{4'000};  // of a person who types from elsewhere

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

  void add(Delivery letter) override;
  [[nodiscard]] bool can_accept() const override { return letters_.empty(); }
  /// Also when it stands behind a text of the user's.
  std::optional<Delivery> take_back() override;
  [[nodiscard]] bool has_interrupted() const override {
    return !letters_.empty() && letters_.back().injection.interrupted();
  }
  /// A word of our own to the agent, unless it had too many of them.
  std::optional<Delivery> explanation(std::string_view sentence);
  /// A person's words, before all others and by the same gate, unless they cannot go soon. Told once how it ended. Not
  /// while something is in hand, or other such words wait: there is never more than one.
  void say_now(std::string text, SteadyTime now, std::move_only_function<void(Result<void>)> done);
  /// Something it said was taken: explanations are worth giving again.
  void understood() { explanations_ = 0; }

  /// The agent itself says that this was put before its model, and under which id it does.
  void on_given(EvidenceMatcher& shown, std::string_view way, std::string_view id);
  /// It stands elsewhere in the daemon's books now.
  void relocate(const client::DeliveryRef& place);

  /// The agent is gone: what was being typed is in doubt, and told so.
  void on_agent_gone();

  /// How things stand; what stands in the composer, if one is seen.
  struct View {
    SteadyTime now{};
    WallMs wall = 0;
    profiles::State state = profiles::State::Unknown;
    profiles::Blocker blocker = profiles::Blocker::Known;  // of a blocked one
    SteadyTime since{};
    TypingTimes typing = {};
    const std::optional<profiles::Composer>* composer = nullptr;
    std::uint64_t revision = 0;  // of the screen
    bool drained = true;         // the program has taken all that was written
    bool takes_lines = true;     // a line break in a paste is no Enter
    HeldKeys keys = {};          // of the user
    bool has_record = false;     // the agent's transcript shows what its model is given
  };
  /// Does what can be done now; `silent` gives what is typed with a delivery. The time of the next call without any change;
  /// now when the gate has become free.
  std::optional<SteadyTime> deliver(const View& view, SilentDeliveries& silent);

  /// The first one has been written, at least in part.
  [[nodiscard]] bool is_injecting() const { return !letters_.empty() && letters_.front().injection.begun(); }
  /// The user's keys would mix with it.
  [[nodiscard]] bool holds_keys() const { return is_injecting() && letters_.front().injection.holds_keys(); }
  /// injection.h says when.
  [[nodiscard]] std::optional<SteadyTime> sending_until() const override {
    return is_injecting() ? letters_.front().injection.sending_until() : std::nullopt;
  }
  [[nodiscard]] bool saying() const { return !letters_.empty() && letters_.front().done; }
  [[nodiscard]] const std::deque<Delivery>& waiting() const { return letters_; }

 private:
  [[nodiscard]] static bool holds(const View& view, const Delivery& letter);
  [[nodiscard]] static bool is_free(const View& view);
  [[nodiscard]] static bool stands(const View& view, const Delivery& letter);
  struct InjectedDelivery {
    client::DeliveryRef place;
    std::string note;
    std::string text;
  };

  /// The last one was submitted, and neither its turn nor its text in the transcript was seen yet.
  struct Submitted {
    std::string note;
    SteadyTime until{};
    bool worked = false;
  };

  [[nodiscard]] static const protocol::Receipt* shown_of(const Delivery& letter);
  bool noted(const Delivery& letter);
  [[nodiscard]] bool may_interrupt(const View& view, const Delivery& letter) const;
  [[nodiscard]] bool turn_is_due(const View& view);
  void expect_turn(const Delivery& letter, const View& view);
  std::string text_of(Delivery& letter, const View& view, SilentDeliveries& silent);
  void report_written(Delivery& letter);
  void finish(Delivery& letter, protocol::Receipt receipt);
  void execute(const InjectionDecision& decision, Delivery& letter, const View& view, SilentDeliveries& silent);
  [[nodiscard]] static std::optional<SteadyTime> again(const Delivery& letter, std::optional<SteadyTime> at,
                                                       const View& view);
  std::optional<SteadyTime> report_pending(Delivery& letter, SteadyTime now);

  const profiles::TypingRules& rules_;
  IntentLog& intent_;
  InjectorActions& composer_;
  ReceiptReporter& reports_;
  std::deque<Delivery> letters_;
  std::deque<InjectedDelivery> typed_;  // delivered and not seen
  std::optional<Submitted> submitted_;
  int explanations_ = 0;
  std::uint64_t pasted_on_ = 0;  // the screen's revision when the last text was written
  bool unresponsive_ = false;    // nothing at all happened there since
  SteadyTime own_turn_{};        // when the turn began that the last one started
  std::string unshown_;          // the last text, when typed_ has it not and the transcript does not show it yet
  SteadyTime settled_from_{};    // the next one waits for the screen to settle anew
};

}  // namespace relay::host
