/// The PTY gate: decides when a message is typed into the composer, when Enter is pressed and when the delivery is done.
///
///     Waiting ──idle, user idle──▶ Pasted ──gap, text visible──▶ Entered ──text gone, working or idle──▶ Delivered
///        ▲ dialog, draft, work:       │ a dialog, the user:         │ text visible after kEnterTimeout:
///        └ wait, with the reason      └ wait, never Enter           └ one more Enter, then erased and InDoubt
///
/// Invariants
/// - The text is written once, unless it was erased before Enter; Enter at most twice, and only while the composer is
///   seen to hold text and no dialog is open.
/// - A working agent has accepted the text only when the composer no longer holds it: the turn may be another message's.
/// - Pasted text that Enter does not send is erased, unless the composer holds other text too.
/// - The user's keys are held from the paste until the text is submitted or erased. When the user types before Enter,
///   the text is erased if Enter is not due within kKeysTimeout (kSlowTimeout until it is drawn), and the delivery starts
///   again. After Enter it is erased after kSlowTimeout and is in doubt.
/// - A turn is interrupted at most once, and not while the user has a draft.
/// - Keys of the user after the paste leave the text to the user, except keys that answered a dialog. A text that the
///   user edited and sent is in doubt unless the transcript shows it.
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

inline constexpr Millis kIdleStableTime{150};            // for which a screen must be idle
inline constexpr Millis kMinTurnBeforeInterrupt{2'000};  // before it the model may not have its input
inline constexpr Millis kUserIdleTime{1'500};            // after a key of the user
inline constexpr Millis kPasteTimeout{2'000};            // for the text to appear
inline constexpr Millis kEnterTimeout{1'000};            // for Enter to have an effect
inline constexpr Millis kGoneTimeout{1'000};             // for which a composer must be empty to count

inline constexpr Millis kEvidenceTimeout{3'000};  // for the transcript to show what the user sent
inline constexpr Millis kEraseTimeout{1'000};     // for the composer to be seen without the text
inline constexpr Millis kKeysTimeout{1'000};      // for which the user's keys are held
inline constexpr Millis kSlowTimeout{2'500};      // likewise, until the program has drawn the text or reacted to Enter
inline constexpr Millis kComposerClosedTime{
    500};  // a composer not visible for this time is closed; frames are drawn faster

/// When the user typed last; zero when never.
struct TypingTimes {
  SteadyTime any{};
  SteadyTime edit{};   // any key other than Enter
  SteadyTime enter{};  // Enter
};

/// The user's held keys.
struct HeldKeys {
  std::optional<SteadyTime> since = {};
  bool cancel = false;  // Escape or the like is among them
};

struct InjectionInput {
  SteadyTime now{};
  profiles::State state = profiles::State::Unknown;
  profiles::Blocker blocker = profiles::Blocker::Dialog;  // of a blocked one
  SteadyTime since{};                                     // since when the state holds
  TypingTimes typing = {};                                // by the user
  bool only_pasted_text = true;                           // the composer holds only the pasted text
  bool composer_free = true;                              // it is visible and empty
  bool composer_seen = true;
  HeldKeys keys = {};
  bool text_visible = false;  // the composer holds the pasted text or a part, perhaps with other text
};

enum class InjectionStep : std::uint8_t { Wait, Interrupt, Paste, Enter, Erase, Delivered, Failed, InDoubt };

struct InjectionDecision {
  InjectionStep step = InjectionStep::Wait;
  std::string_view reason = {};               // why it is pending, or the outcome
  std::optional<SteadyTime> recheck_at = {};  // when to decide again without a change
  std::string_view evidence = {};             // Delivered: the evidence
};

class Injection {
 public:
  enum class InterruptPolicy : std::uint8_t { WaitForIdle, Interrupt };

  explicit Injection(const profiles::TypingRules& rules, InterruptPolicy policy = InterruptPolicy::WaitForIdle)
      : gap_{rules.submit_gap}, may_interrupt_{policy == InterruptPolicy::Interrupt && !rules.interrupt.empty()} {}

  /// After Interrupt, Paste, Enter and Erase the bytes count as written at `input.now`.
  InjectionDecision decide(const InjectionInput& input);

  /// The decided paste was not possible.
  void undo_paste() { phase_ = Phase::Waiting; }

  [[nodiscard]] bool has_entered() const { return enters_ > 0; }
  /// The agent may have it, by an Enter of the host or the user.
  [[nodiscard]] bool is_sent() const { return has_entered() || user_edited_; }
  /// Other text may have been sent; only the transcript shows which.
  [[nodiscard]] bool is_doubted() const { return phase_ == Phase::Doubted; }
  /// The user may have changed it before it was sent: evidence for a part does not prove the rest.
  [[nodiscard]] bool is_edited() const { return edited_; }
  /// The user's keys must be held.
  [[nodiscard]] bool holds_keys() const { return holds_keys_; }
  /// When held keys require another decision.
  [[nodiscard]] std::optional<SteadyTime> keys_due() const { return keys_due_; }
  /// The composer holds the text, and its Enter is due: a turn that starts before then keeps it unsent. Bounded, because
  /// the user may edit the text without a limit; none while a turn is running.
  [[nodiscard]] std::optional<SteadyTime> sending_until() const { return sending_until_; }
  /// The agent was seen to work on the text.
  [[nodiscard]] bool has_worked() const { return worked_; }
  /// The text was seen in the composer.
  [[nodiscard]] bool was_visible() const { return was_visible_; }
  /// A turn was interrupted for it, and no other has started since.
  [[nodiscard]] bool has_interrupted() const { return interrupted_.has_value(); }
  /// At least a part has been written.
  [[nodiscard]] bool has_started() const { return phase_ != Phase::Waiting; }

 private:
  enum class Phase : std::uint8_t { Waiting, Pasted, Entered, Erased, Doubted };

  [[nodiscard]] InjectionDecision decide_by_phase(const InjectionInput& input);
  /// Until when keys are held; none: no keys are held.
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
  /// True when the user typed into the composer at `typed`, after the host's last step.
  [[nodiscard]] bool is_after_last_step(SteadyTime typed) const;
  /// From when a closed dialog counts as closed and the user as idle.
  [[nodiscard]] std::optional<SteadyTime> dialog_closed_at(const InjectionInput& input) const;

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
  bool had_only_pasted_text_ = false;  // when the composer was last visible
  bool user_edited_ = false;           // after the paste
  bool edited_ = false;                // before it was sent
  bool holds_keys_ = false;
  std::optional<SteadyTime> keys_due_;
  std::optional<SteadyTime> sending_until_;
  bool yields_ = false;        // the user's keys go to the composer, whatever it holds
  bool text_unsent_ = false;   // when last seen after Enter, the composer held the text
  bool enter_failed_ = false;  // and still held it after kEnterTimeout
  bool worked_ = false;        // after Enter, without the text in the composer
  bool may_interrupt_;         // the current turn, once
  std::optional<SteadyTime> interrupted_;
};

}  // namespace relay::host
