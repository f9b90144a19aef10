#include "host/injection.h"

#include <algorithm>

namespace relay::host {
namespace {

using profiles::State;

constexpr int kMaxEnters = 2;
constexpr std::string_view kWorking = "status working";

Decision wait(std::string_view reason, std::optional<SteadyTime> until = {}) { return {Step::Wait, reason, until}; }

}  // namespace

Decision Injection::decide(const Situation& situation) {
  if (phase_ != Phase::Waiting && situation.state == State::Blocked) dialog_seen_ = situation.now;
  switch (phase_) {
    case Phase::Waiting: return while_waiting(situation);
    case Phase::Pasted: return after_paste(situation);
    case Phase::Entered: return after_enter(situation);
  }
  return {};
}

Decision Injection::while_waiting(const Situation& situation) {
  switch (situation.state) {
    case State::Unknown: return wait("it is not known to be ready");
    case State::Working: return while_working(situation);
    case State::Blocked: return wait("a dialog is open");
    case State::Typing: return wait("the composer holds a draft");
    case State::Idle: break;
  }
  const auto free_at = std::max(situation.since + kIdleSettle, situation.last_typed + kPersonQuiet);
  if (situation.now < free_at)
    return wait(
        situation.last_typed + kPersonQuiet > situation.now ? "a person typed a moment ago" : "it just became idle",
        free_at);
  phase_ = Phase::Pasted;
  pasted_ = situation.now;
  return {Step::Paste};
}

Decision Injection::while_working(const Situation& situation) {
  if (!may_interrupt_ || !situation.composer_free) return wait("the agent is working");
  const auto free_at = std::max(situation.since + kTurnBegun, situation.last_typed + kPersonQuiet);
  if (situation.now < free_at) return wait("a person typed a moment ago, or it just began to work", free_at);
  may_interrupt_ = false;
  return {Step::Interrupt};
}

Decision Injection::after_paste(const Situation& situation) {
  const bool touched = touched_since(pasted_, situation);
  was_visible_ = was_visible_ || situation.state == State::Typing;
  switch (situation.state) {
    case State::Blocked: return wait("a dialog opened before Enter");
    case State::Unknown: return wait("the screen is not understood");
    case State::Working:
      if (touched && was_visible_) return {Step::Delivered, "a person sent it", {}, kWorking};
      return wait("the agent began to work before Enter");
    case State::Idle:
      if (was_visible_ && situation.now < situation.since + kGonePatience)
        return wait("the composer was emptied", situation.since + kGonePatience);
      if (was_visible_)
        return {touched ? Step::Failed : Step::InDoubt, touched ? "a person removed it" : "it vanished"};
      if (situation.now < pasted_ + kPastePatience) return wait("the text is not seen yet", pasted_ + kPastePatience);
      return {Step::InDoubt, "the text never appeared"};
    case State::Typing: break;
  }
  if (touched || !situation.draft_is_ours) return wait("a person is editing it");
  if (situation.now < pasted_ + gap_) return wait("between the text and Enter", pasted_ + gap_);
  if (const auto over = dialog_over_at(situation); over && situation.now < *over)
    return wait("a dialog has just closed", over);
  return press_enter(situation);
}

bool Injection::touched_since(SteadyTime moment, const Situation& situation) const {
  return situation.last_typed > std::max(moment, dialog_seen_.value_or(moment));
}

std::optional<SteadyTime> Injection::dialog_over_at(const Situation& situation) const {
  if (!dialog_seen_) return std::nullopt;
  return std::max(situation.since + kIdleSettle, situation.last_typed + kPersonQuiet);
}

Decision Injection::press_enter(const Situation& situation) {
  phase_ = Phase::Entered;
  entered_ = situation.now;
  ++enters_;
  return {Step::Enter};
}

Decision Injection::after_enter(const Situation& situation) {
  switch (situation.state) {
    case State::Working: return {Step::Delivered, "the agent began to work", {}, kWorking};
    case State::Idle:
      if (situation.since < entered_) return wait("Enter was just pressed", entered_ + kEnterPatience);
      if (situation.now < situation.since + kIdleSettle)
        return wait("the composer emptied", situation.since + kIdleSettle);
      if (touched_since(entered_, situation)) return {Step::InDoubt, "a person emptied the composer, or sent it"};
      return {Step::Delivered, "the composer emptied", {}, "composer empty"};
    case State::Blocked: return wait("a dialog is open");
    case State::Unknown: return wait("the screen is not understood");
    case State::Typing: break;
  }
  if (touched_since(entered_, situation) || !situation.draft_is_ours) return wait("a person is editing it");
  if (situation.now < entered_ + kEnterPatience) return wait("Enter was just pressed", entered_ + kEnterPatience);
  if (const auto over = dialog_over_at(situation); over && situation.now < *over)
    return wait("a dialog has just closed", over);
  if (enters_ >= kMaxEnters) return {Step::InDoubt, "Enter was not taken"};
  return press_enter(situation);
}

}  // namespace relay::host
