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

InjectionDecision Injection::decide(const InjectionInput& situation) {
  if (phase_ != Phase::Waiting && situation.state == State::Blocked) dialog_seen_ = situation.now;
  auto way = make_way_for_keys(situation);
  const auto decision = way ? *way : decide_by_phase(situation);
  holds_keys_ = begun() && phase_ != Phase::Doubted && !yields_ && situation.state != State::Blocked;
  keys_due_ = holds_keys_ ? keys_wait_until(situation) : std::nullopt;
  if (const auto settled = situation.since + kIdleSettle; keys_due_ && dialog_seen_ && situation.now < settled)
    keys_due_ = std::min(*keys_due_, settled);
  const bool overtaken = phase_ == Phase::Pasted && situation.state == State::Working;
  const auto last_step = std::max({pasted_, entered_, erased_, dialog_seen_.value_or(pasted_)});
  sending_until_ = holds_keys_ && !overtaken ? std::optional{last_step + gap_ + kSlowTimeout} : std::nullopt;
  return decision;
}

std::optional<SteadyTime> Injection::keys_wait_until(const InjectionInput& situation) const {
  if ((phase_ != Phase::Pasted && phase_ != Phase::Entered) || !situation.keys.since) return std::nullopt;
  const bool slow = phase_ == Phase::Entered || !situation.text_stands;
  return *situation.keys.since + (slow ? kSlowTimeout : kKeysTimeout);
}

/// The user comes first: what is not sent in a moment is erased, and where that cannot be done the keys go on.
std::optional<InjectionDecision> Injection::make_way_for_keys(const InjectionInput& situation) {
  const auto until = keys_wait_until(situation);
  if (!until || situation.state == State::Blocked) return std::nullopt;  // a dialog is not typed over
  if (dialog_seen_ && situation.now < situation.since + kIdleSettle) return std::nullopt;
  const bool late = situation.now >= *until;
  const auto enter_at = std::max(pasted_ + gap_, dialog_over_at(situation).value_or(pasted_));
  const bool unsent =
      phase_ == Phase::Pasted && (situation.keys.cancel || situation.state == State::Working || enter_at >= *until);
  if (!late && !unsent) return std::nullopt;
  const bool seen = situation.state == State::Typing || situation.state == State::Working;
  if (seen && situation.text_stands && situation.draft_is_ours) return erase(situation);
  yields_ = late;
  return std::nullopt;
}

InjectionDecision Injection::decide_by_phase(const InjectionInput& situation) {
  switch (phase_) {
    case Phase::Waiting: return while_waiting(situation);
    case Phase::Pasted: return after_paste(situation);
    case Phase::Entered: return after_enter(situation);
    case Phase::Erased: return after_erase(situation);
    case Phase::Doubted: return while_doubted(situation);
  }
  return {};
}

InjectionDecision Injection::while_waiting(const InjectionInput& situation) {
  switch (situation.state) {
    case State::Unknown: return wait("it is not known to be ready");
    case State::Working: return while_working(situation);
    case State::Blocked: return wait(profiles::reason_of(situation.blocker));
    case State::Typing: return wait("the composer holds a draft");
    case State::Idle: break;
  }
  if (situation.keys.since) return wait("a person typed a moment ago", situation.now + kIdleSettle);
  const auto free_at = std::max(situation.since + kIdleSettle, situation.typing.any + kUserIdleTime);
  if (situation.now < free_at)
    return wait(
        situation.typing.any + kUserIdleTime > situation.now ? "a person typed a moment ago" : "it just became idle",
        free_at);
  phase_ = Phase::Pasted;
  pasted_ = situation.now;
  return {InjectionStep::Paste};
}

InjectionDecision Injection::while_working(const InjectionInput& situation) {
  if (interrupted_ && situation.since > *interrupted_) interrupted_.reset();  // another turn has begun
  if (!may_interrupt_ || !situation.composer_free) return wait("the agent is working");
  const auto free_at = std::max(situation.since + kMinTurnBeforeInterrupt, situation.typing.any + kUserIdleTime);
  if (situation.now < free_at) return wait("a person typed a moment ago, or it just began to work", free_at);
  may_interrupt_ = false;
  interrupted_ = situation.now;
  return {InjectionStep::Interrupt};
}

InjectionDecision Injection::after_paste(const InjectionInput& situation) {
  user_edited_ = after_us(situation.typing.any);
  if (situation.state == State::Typing) was_visible_ = true, was_ours_ = situation.draft_is_ours;
  edited_ = after_us(situation.typing.edit) || (was_visible_ && !was_ours_);
  switch (situation.state) {
    case State::Blocked:
      return wait(situation.blocker == profiles::Blocker::Known ? "a dialog opened before Enter"
                                                                : profiles::reason_of(situation.blocker));
    case State::Unknown: return wait("the screen is not understood");
    case State::Working:
      // It may work on something else, and the text stands there still.
      if (user_edited_ && was_visible_ && (after_us(situation.typing.enter) || situation.composer_free))
        return sent_by_a_person(situation, kWorking);
      return wait("the agent began to work before Enter");
    case State::Idle:
      if (was_visible_ && situation.now < situation.since + kGoneTimeout)
        return wait("the composer was emptied", situation.since + kGoneTimeout);
      if (was_visible_ && !user_edited_) return {InjectionStep::InDoubt, "it vanished"};
      if (was_visible_ && after_us(situation.typing.enter)) return sent_by_a_person(situation, kEmptied);
      if (was_visible_) return {InjectionStep::Failed, "a person removed it"};
      if (situation.now < pasted_ + kPasteTimeout) return wait("the text is not seen yet", pasted_ + kPasteTimeout);
      return {InjectionStep::InDoubt, "the text never appeared"};
    case State::Typing: break;
  }
  if (user_edited_ || !situation.draft_is_ours) return wait("a person is editing it");
  if (situation.now < pasted_ + gap_) return wait("between the text and Enter", pasted_ + gap_);
  if (const auto over = dialog_over_at(situation); over && situation.now < *over)
    return wait("a dialog has just closed", over);
  return press_enter(situation);
}

/// With nothing but Enter it is as we wrote it.
InjectionDecision Injection::sent_by_a_person(const InjectionInput& situation, std::string_view evidence) {
  if (after_us(situation.typing.edit) || !was_ours_) return doubt(situation);
  return {InjectionStep::Delivered, "a person sent it", {}, evidence};
}

InjectionDecision Injection::doubt(const InjectionInput& situation) {
  phase_ = Phase::Doubted;
  edited_ = true;
  doubted_ = situation.now;
  return while_doubted(situation);
}

InjectionDecision Injection::while_doubted(const InjectionInput& situation) const {
  constexpr std::string_view kWhy = "a person edited it, and what was sent is not known";
  if (situation.now < doubted_ + kShownTimeout) return wait(kWhy, doubted_ + kShownTimeout);
  return {InjectionStep::InDoubt, kWhy};
}

bool Injection::after_us(SteadyTime typed) const {
  const auto ours = phase_ == Phase::Pasted ? pasted_ : std::max(entered_, erased_);
  return typed > std::max(ours, dialog_seen_.value_or(ours));
}

std::optional<SteadyTime> Injection::dialog_over_at(const InjectionInput& situation) const {
  if (!dialog_seen_) return std::nullopt;
  return std::max(situation.since + kIdleSettle, situation.typing.any + kUserIdleTime);
}

InjectionDecision Injection::press_enter(const InjectionInput& situation) {
  phase_ = Phase::Entered;
  entered_ = situation.now;
  ++enters_;
  return {InjectionStep::Enter};
}

/// The turn may be another's: ours it is when the composer has let go of the text.
InjectionDecision Injection::after_enter_working(const InjectionInput& situation) {
  // Keys after our Enter without another Enter have sent nothing.
  if (after_us(situation.typing.edit) && after_us(situation.typing.enter)) return doubt(situation);
  if (situation.text_stands) {
    const auto until = entered_ + kEnterTimeout;
    return wait("the agent is working and the text stands unsent",
                situation.now < until ? std::optional{until} : std::nullopt);
  }
  if (situation.composer_seen)
    unseen_since_.reset();
  else if (!unseen_since_)
    unseen_since_ = situation.now;
  if (unseen_since_ && situation.now < *unseen_since_ + kUnseen)
    return wait("the composer is not seen", *unseen_since_ + kUnseen);
  worked_ = true;
  return {InjectionStep::Delivered, "the agent began to work", {}, kWorking};
}

InjectionDecision Injection::erase(const InjectionInput& situation) {
  phase_ = Phase::Erased;
  erased_ = situation.now;
  return {InjectionStep::Erase};
}

/// It was not sent: it waits for its moment anew.
InjectionDecision Injection::restart() {
  phase_ = Phase::Waiting;
  pasted_ = entered_ = erased_ = {};
  dialog_seen_.reset();
  unseen_since_.reset();
  was_visible_ = was_ours_ = user_edited_ = edited_ = yields_ = false;
  return wait("a person began to type; it was erased and is typed later");
}

/// A turn or an empty composer may also mean that a slow program has taken Enter after all.
InjectionDecision Injection::after_erase(const InjectionInput& situation) {
  if (enters_ == 0 && situation.composer_seen && !situation.text_stands) return restart();
  const bool settled = situation.state == State::Idle && situation.now >= situation.since + kIdleSettle;
  if (!settled && situation.now < erased_ + kEraseTimeout)
    return wait("its text is being erased", erased_ + kEraseTimeout);
  if (enters_ == 0) {  // it stands there, and the keys follow: the user has it now
    phase_ = Phase::Pasted;
    yields_ = true;
    return wait("a person is editing it", situation.now + kEraseTimeout);
  }
  return {InjectionStep::InDoubt,
          situation.text_stands ? "Enter was not taken" : "Enter was not taken, and its text was erased"};
}

InjectionDecision Injection::after_enter(const InjectionInput& situation) {
  edited_ = after_us(situation.typing.edit) && after_us(situation.typing.enter);
  switch (situation.state) {
    case State::Working: return after_enter_working(situation);
    case State::Idle:
      if (situation.since < entered_) return wait("Enter was just pressed", entered_ + kEnterTimeout);
      if (situation.now < situation.since + kIdleSettle)
        return wait("the composer emptied", situation.since + kIdleSettle);
      if (after_us(situation.typing.edit)) return doubt(situation);
      return {InjectionStep::Delivered, "the composer emptied", {}, kEmptied};
    case State::Blocked: return wait(profiles::reason_of(situation.blocker));
    case State::Unknown: return wait("the screen is not understood");
    case State::Typing: break;
  }
  if (after_us(situation.typing.any) || !situation.draft_is_ours) return wait("a person is editing it");
  if (situation.now < entered_ + kEnterTimeout) return wait("Enter was just pressed", entered_ + kEnterTimeout);
  if (const auto over = dialog_over_at(situation); over && situation.now < *over)
    return wait("a dialog has just closed", over);
  if (enters_ >= kMaxEnters && situation.text_stands) return erase(situation);
  if (enters_ >= kMaxEnters) return {InjectionStep::InDoubt, "Enter was not taken"};
  return press_enter(situation);
}

}  // namespace relay::host
