#include "host/delivery/injection.h"

#include <algorithm>

namespace relay::host {
namespace {

using profiles::State;

constexpr int kMaxEnters = 2;
constexpr std::string_view kWorking = "status working";
constexpr std::string_view kEmptied = "composer empty";

InjectionDecision wait(std::string_view reason, std::optional<SteadyTime> until = {}) {
  return {InjectionStep::Wait, reason, until};
}

}  // namespace

InjectionDecision Injection::decide(const InjectionInput& input) {
  if (phase_ != Phase::Waiting && input.state == State::Blocked) dialog_seen_ = input.now;
  const auto yielded = yield_to_keys(input);
  const auto decision = yielded ? *yielded : decide_by_phase(input);
  holds_keys_ = has_started() && phase_ != Phase::Doubted && !yields_ && input.state != State::Blocked;
  keys_due_ = holds_keys_ ? keys_held_until(input) : std::nullopt;
  // After a dialog nothing is decided about held keys before the screen is stable.
  if (const auto stable = input.since + kIdleStableTime; keys_due_ && dialog_seen_ && input.now < stable)
    keys_due_ = stable;
  const bool overtaken = phase_ == Phase::Pasted && input.state == State::Working;
  const auto last_step = std::max({pasted_, entered_, erased_, dialog_seen_.value_or(pasted_)});
  sending_until_ = holds_keys_ && !overtaken ? std::optional{last_step + gap_ + kSlowTimeout} : std::nullopt;
  return decision;
}

std::optional<SteadyTime> Injection::keys_held_until(const InjectionInput& input) const {
  if ((phase_ != Phase::Pasted && phase_ != Phase::Entered) || !input.keys.since) return std::nullopt;
  const bool slow = phase_ == Phase::Entered || !input.text_visible;
  return *input.keys.since + (slow ? kSlowTimeout : kKeysTimeout);
}

/// A text whose Enter is not due soon is erased; if it cannot be, the keys are passed on after it.
std::optional<InjectionDecision> Injection::yield_to_keys(const InjectionInput& input) {
  const auto until = keys_held_until(input);
  if (!until || input.state == State::Blocked) return std::nullopt;  // nothing is erased under a dialog
  if (dialog_seen_ && input.now < input.since + kIdleStableTime) return std::nullopt;
  const bool late = input.now >= *until;
  const auto enter_at = std::max(pasted_ + gap_, dialog_closed_at(input).value_or(pasted_));
  const bool unsent =
      phase_ == Phase::Pasted && (input.keys.cancel || input.state == State::Working || enter_at >= *until);
  if (!late && !unsent) return std::nullopt;
  const bool seen = input.state == State::Typing || input.state == State::Working;
  if (seen && input.text_visible && input.only_pasted_text) return erase(input);
  yields_ = late;
  return std::nullopt;
}

InjectionDecision Injection::decide_by_phase(const InjectionInput& input) {
  switch (phase_) {
    case Phase::Waiting: return while_waiting(input);
    case Phase::Pasted: return after_paste(input);
    case Phase::Entered: return after_enter(input);
    case Phase::Erased: return after_erase(input);
    case Phase::Doubted: return while_doubted(input);
  }
  return {};
}

InjectionDecision Injection::while_waiting(const InjectionInput& input) {
  switch (input.state) {
    case State::Unknown: return wait("the agent may not be ready yet");
    case State::Working: return while_working(input);
    case State::Blocked: return wait(profiles::reason_of(input.blocker));
    case State::Typing: return wait("the composer holds a draft");
    case State::Idle: break;
  }
  if (input.keys.since) return wait("the user typed recently", input.now + kIdleStableTime);
  const auto free_at = std::max(input.since + kIdleStableTime, input.typing.any + kUserIdleTime);
  if (input.now < free_at)
    return wait(
        input.typing.any + kUserIdleTime > input.now ? "the user typed recently" : "the agent has just become idle",
        free_at);
  phase_ = Phase::Pasted;
  pasted_ = input.now;
  return {InjectionStep::Paste};
}

InjectionDecision Injection::while_working(const InjectionInput& input) {
  if (interrupted_ && input.since > *interrupted_) interrupted_.reset();  // another turn has started
  if (!may_interrupt_ || !input.composer_free) return wait("the agent is working");
  const auto free_at = std::max(input.since + kMinTurnBeforeInterrupt, input.typing.any + kUserIdleTime);
  if (input.now < free_at) return wait("the user typed recently, or the turn has just started", free_at);
  may_interrupt_ = false;
  interrupted_ = input.now;
  return {InjectionStep::Interrupt};
}

InjectionDecision Injection::after_paste(const InjectionInput& input) {
  user_edited_ = is_after_last_step(input.typing.any);
  if (input.state == State::Typing) was_visible_ = true, had_only_pasted_text_ = input.only_pasted_text;
  edited_ = is_after_last_step(input.typing.edit) || (was_visible_ && !had_only_pasted_text_);
  switch (input.state) {
    case State::Blocked:
      return wait(input.blocker == profiles::Blocker::Dialog ? "a dialog opened before Enter"
                                                             : profiles::reason_of(input.blocker));
    case State::Unknown: return wait("the screen is not recognized");
    case State::Working:
      // It may work on another message while the composer still holds the text.
      if (user_edited_ && was_visible_ && (is_after_last_step(input.typing.enter) || input.composer_free))
        return sent_by_user(input, kWorking);
      return wait("the agent started to work before Enter");
    case State::Idle:
      if (was_visible_ && input.now < input.since + kGoneTimeout)
        return wait("the composer was emptied", input.since + kGoneTimeout);
      if (was_visible_ && !user_edited_) return {InjectionStep::InDoubt, "it disappeared"};
      if (was_visible_ && is_after_last_step(input.typing.enter)) return sent_by_user(input, kEmptied);
      if (was_visible_) return {InjectionStep::Failed, "the user removed it"};
      if (input.now < pasted_ + kPasteTimeout) return wait("the text is not visible yet", pasted_ + kPasteTimeout);
      return {InjectionStep::InDoubt, "the text never appeared"};
    case State::Typing: break;
  }
  if (user_edited_ || !input.only_pasted_text) return wait("the user is editing it");
  if (input.now < pasted_ + gap_) return wait("between the text and Enter", pasted_ + gap_);
  if (const auto over = dialog_closed_at(input); over && input.now < *over)
    return wait("a dialog has just closed", over);
  return press_enter(input);
}

/// Enter without another key leaves it unchanged.
InjectionDecision Injection::sent_by_user(const InjectionInput& input, std::string_view evidence) {
  if (is_after_last_step(input.typing.edit) || !had_only_pasted_text_) return doubt(input);
  return {InjectionStep::Delivered, "the user sent it", {}, evidence};
}

InjectionDecision Injection::doubt(const InjectionInput& input) {
  phase_ = Phase::Doubted;
  edited_ = true;
  in_doubt_ = input.now;
  return while_doubted(input);
}

InjectionDecision Injection::while_doubted(const InjectionInput& input) const {
  constexpr std::string_view kReason = "the user edited it, and the text that was sent is not known";
  if (input.now < in_doubt_ + kEvidenceTimeout) return wait(kReason, in_doubt_ + kEvidenceTimeout);
  return {InjectionStep::InDoubt, kReason};
}

bool Injection::is_after_last_step(SteadyTime typed) const {
  const auto last_step = phase_ == Phase::Pasted ? pasted_ : std::max(entered_, erased_);
  return typed > std::max(last_step, dialog_seen_.value_or(last_step));
}

std::optional<SteadyTime> Injection::dialog_closed_at(const InjectionInput& input) const {
  if (!dialog_seen_) return std::nullopt;
  return std::max(input.since + kIdleStableTime, input.typing.any + kUserIdleTime);
}

InjectionDecision Injection::press_enter(const InjectionInput& input) {
  phase_ = Phase::Entered;
  entered_ = input.now;
  text_unsent_ = enter_failed_ = false;
  ++enters_;
  return {InjectionStep::Enter};
}

/// The turn may be another message's; it is this one's once the composer does not hold the text.
InjectionDecision Injection::after_enter_working(const InjectionInput& input) {
  // Keys after Enter without another Enter have sent nothing.
  if (is_after_last_step(input.typing.edit) && is_after_last_step(input.typing.enter)) return doubt(input);
  if (input.text_visible) {
    const auto until = entered_ + kEnterTimeout;
    return wait("the agent is working and the text is unsent", input.now < until ? std::optional{until} : std::nullopt);
  }
  if (input.composer_seen)
    unseen_since_.reset();
  else if (!unseen_since_)
    unseen_since_ = input.now;
  if (unseen_since_ && input.now < *unseen_since_ + kComposerClosedTime)
    return wait("the composer is not visible", *unseen_since_ + kComposerClosedTime);
  worked_ = true;
  return {InjectionStep::Delivered, "the agent started to work", {}, kWorking};
}

InjectionDecision Injection::erase(const InjectionInput& input) {
  phase_ = Phase::Erased;
  erased_ = input.now;
  return {InjectionStep::Erase};
}

/// The text was not sent.
InjectionDecision Injection::restart() {
  phase_ = Phase::Waiting;
  pasted_ = entered_ = erased_ = {};
  dialog_seen_.reset();
  unseen_since_.reset();
  was_visible_ = had_only_pasted_text_ = user_edited_ = edited_ = yields_ = false;
  return wait("the user started to type; it was erased and is typed later");
}

/// A turn or an empty composer may also mean that a slow program reacted to Enter late.
InjectionDecision Injection::after_erase(const InjectionInput& input) {
  if (enters_ == 0 && input.composer_seen && !input.text_visible) return restart();
  const bool stable = input.state == State::Idle && input.now >= input.since + kIdleStableTime;
  if (!stable && input.now < erased_ + kEraseTimeout) return wait("its text is being erased", erased_ + kEraseTimeout);
  if (enters_ == 0) {  // the text stays, and the keys follow: the user edits it
    phase_ = Phase::Pasted;
    yields_ = true;
    return wait("the user is editing it", input.now + kEraseTimeout);
  }
  return {InjectionStep::InDoubt,
          input.text_visible ? "Enter had no effect" : "Enter had no effect, and its text was erased"};
}

InjectionDecision Injection::after_enter(const InjectionInput& input) {
  edited_ = is_after_last_step(input.typing.edit) && is_after_last_step(input.typing.enter);
  if (input.state == State::Typing || input.state == State::Working) text_unsent_ = input.text_visible;
  const bool is_open = input.state == State::Typing || input.state == State::Blocked;
  if (is_open && text_unsent_ && input.now >= entered_ + kEnterTimeout) enter_failed_ = true;
  switch (input.state) {
    case State::Working: return after_enter_working(input);
    case State::Idle:
      if (input.since < entered_) return wait("Enter was just pressed", entered_ + kEnterTimeout);
      if (input.now < input.since + kIdleStableTime) return wait("the composer emptied", input.since + kIdleStableTime);
      // The user may have removed a text that Enter did not send with a key that seemed to be for a dialog.
      if (is_after_last_step(input.typing.edit) || (enter_failed_ && input.typing.edit > entered_)) return doubt(input);
      return {InjectionStep::Delivered, "the composer emptied", {}, kEmptied};
    case State::Blocked: return wait(profiles::reason_of(input.blocker));
    case State::Unknown: return wait("the screen is not recognized");
    case State::Typing: break;
  }
  if (is_after_last_step(input.typing.any) || !input.only_pasted_text) return wait("the user is editing it");
  if (input.now < entered_ + kEnterTimeout) return wait("Enter was just pressed", entered_ + kEnterTimeout);
  if (const auto over = dialog_closed_at(input); over && input.now < *over)
    return wait("a dialog has just closed", over);
  if (enters_ >= kMaxEnters && input.text_visible) return erase(input);
  if (enters_ >= kMaxEnters) return {InjectionStep::InDoubt, "Enter had no effect"};
  return press_enter(input);
}

}  // namespace relay::host
