/// The gate before the agent's composer: when a delivery is pasted, when Enter is pressed, when it is done. Decides,
/// never acts.
///
///     Waiting ──idle, user idle──▶ Pasted ──gap, text visible──▶ Entered ──text gone, working or idle──▶ Delivered
///        ▲ dialog, draft, work:       │ a dialog, the user:         │ still there after kEnterTimeout:
///        └ wait, with the reason      └ wait, never Enter           └ one more Enter, then erased and InDoubt
///
/// Invariants
/// - The text is written once, unless it was erased before Enter; Enter at most twice, and only while the composer is
///   seen to hold text and nothing else is open.
/// - A working agent has taken the text only when the composer does not hold it any more: the turn may be another's.
/// - Text of ours that Enter does not send is erased, unless other text stands with it.
/// - The user's keys are held from the paste until the text is taken or erased. It is erased for them at once when
///   Enter is not due in a moment, otherwise after some seconds at most; then nothing was sent, and the delivery waits
///   again.
/// - A turn is interrupted at most once, and not while the user has a draft.
/// - Keys of the user after the paste leave the text to the user, except keys that answered a dialog: they went to the
///   dialog. What the user sent after editing is in doubt unless the transcript shows it.
/// Threading: one thread, no clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "profiles/profile.h"
#include "profiles/state_classifier.h"

namespace relay::host {

inline constexpr Millis kIdleSettle{150};  // an idle screen must hold that long
inline constexpr Millis kMinTurnBeforeInterrupt{
    2'000};                                    // before that its prompt may not be with the model: no interrupt
inline constexpr Millis kUserIdleTime{1'500};  // after a key of the user
inline constexpr Millis kPasteTimeout{2'000};  // for the text to appear
inline constexpr Millis kEnterTimeout{1'000};  // for Enter to be taken
inline constexpr Millis kGoneTimeout{1'000};   // an empty composer must hold that long to mean "gone"

inline constexpr Millis kShownTimeout{3'000};  // for the transcript to show what the user sent
inline constexpr Millis kEraseTimeout{1'000};  // for the composer to be seen without it
inline constexpr Millis kKeysTimeout{1'000};   // of the user whose keys are held
inline constexpr Millis kSlowTimeout{2'500};   // while the program has not drawn the text, or not taken Enter yet
inline constexpr Millis kUnseen{500};          // a composer that long not seen is not there; a frame is drawn faster

/// When the user typed last; long ago when never.
struct TypingTimes {
  SteadyTime any{};
  SteadyTime edit{};   // something else than Enter
  SteadyTime enter{};  // Enter
};

/// Keys of the user that are held back.
struct HeldKeys {
  std::optional<SteadyTime> since = {};
  bool cancel = false;  // Escape or the like is among them
};

struct InjectionInput {
  SteadyTime now{};
  profiles::State state = profiles::State::Unknown;
  profiles::Blocker blocker = profiles::Blocker::Dialog;  // of a blocked one
  SteadyTime since{};                                    // the state has held from then on
  TypingTimes typing = {};                               // by the user
  bool draft_is_ours = true;                             // the composer begins with the pasted text
  bool composer_free = true;                             // it is there and empty, whatever the agent does
  bool composer_seen = true;
  HeldKeys keys = {};
  bool text_stands = false;  // the composer is seen to hold the pasted text or a part of it, perhaps with other text
};

enum class InjectionStep : std::uint8_t { Wait, Interrupt, Paste, Enter, Erase, Delivered, Failed, InDoubt };

struct InjectionDecision {
  InjectionStep step = InjectionStep::Wait;
  std::string_view reason = {};               // why it waits, or how it ended
  std::optional<SteadyTime> recheck_at = {};  // decide again then, without any change
  std::string_view evidence = {};             // Delivered: the evidence
};

class Injection {
 public:
  enum class InterruptPolicy : std::uint8_t { Waits, Interrupts };

  explicit Injection(const profiles::TypingRules& rules, InterruptPolicy haste = InterruptPolicy::Waits)
      : gap_{rules.submit_gap}, may_interrupt_{haste == InterruptPolicy::Interrupts && !rules.interrupt.empty()} {}

  /// After Interrupt, Paste, Enter and Erase the bytes count as written at `input.now`.
  InjectionDecision decide(const InjectionInput& input);

  /// The paste that was decided could not be done.
  void not_pasted() { phase_ = Phase::Waiting; }

  [[nodiscard]] bool entered() const { return enters_ > 0; }
  /// It may be with the agent, by our Enter or the user's.
  [[nodiscard]] bool sent() const { return entered() || user_edited_; }
  /// Something else may have been sent; only the transcript can tell.
  [[nodiscard]] bool doubted() const { return phase_ == Phase::Doubted; }
  /// The user may have changed it before it was sent: evidence for a part of it does not prove the rest.
  [[nodiscard]] bool edited() const { return edited_; }
  /// The user's keys must wait.
  [[nodiscard]] bool holds_keys() const { return holds_keys_; }
  /// Held keys require another decision then.
  [[nodiscard]] std::optional<SteadyTime> keys_due() const { return keys_due_; }
  /// The text stands in the composer and its Enter is due: a turn that starts before then would keep it unsent. A
  /// bound, because the user may edit it for long; nothing while a turn runs already.
  [[nodiscard]] std::optional<SteadyTime> sending_until() const { return sending_until_; }
  /// The agent was seen to work on it.
  [[nodiscard]] bool worked() const { return worked_; }
  /// The text was seen in the composer.
  [[nodiscard]] bool seen() const { return was_visible_; }
  /// A turn was interrupted for it, and no other has begun since.
  [[nodiscard]] bool interrupted() const { return interrupted_.has_value(); }
  /// Something of it has been written.
  [[nodiscard]] bool begun() const { return phase_ != Phase::Waiting; }

 private:
  enum class Phase : std::uint8_t { Waiting, Pasted, Entered, Erased, Doubted };

  [[nodiscard]] InjectionDecision decide_by_phase(const InjectionInput& input);
  /// Held keys wait until then; none: no keys wait.
  [[nodiscard]] std::optional<SteadyTime> keys_held_until(const InjectionInput& input) const;
  [[nodiscard]] std::optional<InjectionDecision> yield_to_keys(const InjectionInput& input);
  [[nodiscard]] InjectionDecision while_waiting(const InjectionInput& input);
  [[nodiscard]] InjectionDecision while_working(const InjectionInput& input);
  [[nodiscard]] InjectionDecision after_paste(const InjectionInput& input);
  [[nodiscard]] InjectionDecision after_enter(const InjectionInput& input);
  [[nodiscard]] InjectionDecision after_enter_working(const InjectionInput& input);
  [[nodiscard]] InjectionDecision after_erase(const InjectionInput& input);
  [[nodiscard]] InjectionDecision while_doubted(const InjectionInput& input) const;
  InjectionDecision press_enter(const InjectionInput& input);
  InjectionDecision sent_by_user(const InjectionInput& input, std::string_view evidence);
  InjectionDecision erase(const InjectionInput& input);
  InjectionDecision restart();
  InjectionDecision doubt(const InjectionInput& input);
  /// The user typed that into the composer after our last step.
  [[nodiscard]] bool after_us(SteadyTime typed) const;
  /// A dialog that closed counts as closed from then on, and the user as idle.
  [[nodiscard]] std::optional<SteadyTime> dialog_over_at(const InjectionInput& input) const;

  Millis gap_;
  Phase phase_ = Phase::Waiting;
  SteadyTime pasted_{};
  SteadyTime entered_{};
  SteadyTime erased_{};
  SteadyTime in_doubt_{};
  std::optional<SteadyTime> unseen_since_{};  // the composer, while the agent works
  std::optional<SteadyTime> dialog_seen_{};   // last, after the paste
  int enters_ = 0;
  bool was_visible_ = false;
  bool was_ours_ = false;     // all that was seen there last
  bool user_edited_ = false;  // by the user, after the paste
  bool edited_ = false;       // by the user, before it was sent
  bool holds_keys_ = false;
  std::optional<SteadyTime> keys_due_;
  std::optional<SteadyTime> sending_until_;
  bool yields_ = false;        // the user's keys go to the composer, whatever stands there
  bool text_unsent_ = false;   // after the last Enter the composer was last seen with the text
  bool enter_failed_ = false;  // and still long after it
  bool worked_ = false;        // after Enter, without the text in the composer
  bool may_interrupt_;         // a turn that is under way, once
  std::optional<SteadyTime> interrupted_;
};

}  // namespace relay::host
