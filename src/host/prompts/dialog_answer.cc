#include "host/prompts/dialog_answer.h"

namespace relay::host {

using profiles::DialogKeys;
using protocol::NackCode;

DialogAnswer::Decision DialogAnswer::decide(const View& seen) {
  if (!entered_) return choose(seen);
  if (!seen.asked) return {Step::Taken};
  // The request may outlive its dialog: Gemini CLI restarts after its folder trust and shows no known screen meanwhile.
  // A dialog that is redrawn with a count or an error still asks; another dialog has another subject.
  const bool stands = seen.dialog != nullptr && (seen.dialog->whole == dialog_.whole ||
                                                 (!dialog_.about.empty() && seen.dialog->about == dialog_.about));
  if (stands) gone_since_.reset();
  if (!stands && !gone_since_) gone_since_ = seen.now;
  if (gone_since_ && seen.now >= *gone_since_ + kGone) return {Step::Taken};
  if (gone_since_) return {Step::Wait, *gone_since_ + kGone};
  if (seen.now < *entered_ + kTakenTimeout) return {Step::Wait, *entered_ + kTakenTimeout};
  return {Step::Failed,
          {},
          "the key was pressed, and the dialog still stands there; look at it with `agent-relay attach`",
          NackCode::Busy};
}

DialogAnswer::Decision DialogAnswer::choose(const View& seen) {
  if (!seen.asked || seen.dialog == nullptr || seen.dialog->whole != dialog_.whole) {
    // A program that redraws itself after the key is seen half drawn.
    if (seen.asked && moved_from_ && seen.now < moved_ + kRedraw) return {Step::Wait, moved_ + kRedraw};
    if (moved_from_)
      return {
          Step::Failed,
          {},
          "its dialog was drawn anew while its mark was moved, which may stand on another choice now; answer it at its "
          "own screen: `agent-relay attach`"};
    return {Step::Failed,
            {},
            "that is not on the agent's screen any more; see `agent-relay permissions` and `agent-relay questions`"};
  }
  if (seen.typed > since_)
    return {Step::Failed, {}, "somebody types at the agent's terminal, and answers there", NackCode::Busy};
  if (has_own_keys(dialog_)) return press_enter(Step::OwnKey, seen.now);
  if (press_ == DialogKeys::Letter) return press_enter(Step::LetterAndEnter, seen.now);
  const auto marked = seen.dialog->marked();
  if (marked == wanted_)
    return seen.now < moved_ + gap_ ? Decision{Step::Wait, moved_ + gap_} : press_enter(Step::Enter, seen.now);
  if (seen.now >= since_ + kChoosing)
    return {Step::Failed,
            {},
            "its mark did not move in time; answer it at its own screen: `agent-relay attach`",
            NackCode::Unsupported};
  // Not seen while it is redrawn, or not moved yet.
  if (!marked || marked == moved_from_) return {Step::Wait, since_ + kChoosing};
  return move(*marked, seen.now);
}

DialogAnswer::Decision DialogAnswer::move(std::size_t from, SteadyTime now) {
  const auto distance = [&](std::size_t at) { return at > wanted_ ? at - wanted_ : wanted_ - at; };
  if (moved_from_ && distance(from) >= distance(*moved_from_))
    return {Step::Failed,
            {},
            "its choices move in another order than they are shown; answer it at its own screen",
            NackCode::Unsupported};
  moved_from_ = from;
  moved_ = now;
  return {from < wanted_ ? Step::Down : Step::Up, since_ + kChoosing};
}

DialogAnswer::Decision DialogAnswer::press_enter(Step step, SteadyTime now) {
  entered_ = now;
  return {step, now + kTakenTimeout};
}

}  // namespace relay::host
