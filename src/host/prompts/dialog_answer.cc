#include "host/prompts/dialog_answer.h"

namespace relay::host {

using profiles::DialogKeys;
using protocol::NackCode;

DialogAnswer::Decision DialogAnswer::decide(const View& view) {
  if (!confirmed_at_) return choose(view);
  if (!view.is_open) return {Step::Accepted};
  // The request may outlive its dialog: Gemini CLI restarts after its folder trust and then shows no known screen.
  // A dialog that is redrawn with a count or an error is still open; another dialog has another subject.
  const bool is_shown =
      view.dialog != nullptr && (view.dialog->full_text == dialog_.full_text ||
                                 (!dialog_.subject.empty() && view.dialog->subject == dialog_.subject));
  if (is_shown) closed_since_.reset();
  if (!is_shown && !closed_since_) closed_since_ = view.now;
  if (closed_since_ && view.now >= *closed_since_ + kClosedTime) return {Step::Accepted};
  if (closed_since_) return {Step::Wait, *closed_since_ + kClosedTime};
  if (view.now < *confirmed_at_ + kCloseTimeout) return {Step::Wait, *confirmed_at_ + kCloseTimeout};
  return {Step::Failed,
          {},
          "the key was pressed, and the dialog is still open; see it with `agent-relay attach`",
          NackCode::Busy};
}

DialogAnswer::Decision DialogAnswer::choose(const View& view) {
  if (!view.is_open || view.dialog == nullptr || view.dialog->full_text != dialog_.full_text) {
    // The screen may be half drawn after the key.
    if (view.is_open && moved_from_ && view.now < moved_ + kRedrawTimeout) return {Step::Wait, moved_ + kRedrawTimeout};
    if (moved_from_)
      return {Step::Failed,
              {},
              "its dialog changed while its mark was moved, and another choice may be marked now; answer it on its "
              "own screen: `agent-relay attach`"};
    return {
        Step::Failed,
        {},
        "that prompt is no longer on the agent's screen; see `agent-relay permissions` and `agent-relay questions`"};
  }
  if (view.typed > since_)
    return {Step::Failed, {}, "the user is typing at the agent's terminal and may answer there", NackCode::Busy};
  if (has_shortcut_keys(dialog_)) return confirm(Step::Shortcut, view.now);
  if (press_ == DialogKeys::Letter) return confirm(Step::LetterAndEnter, view.now);
  const auto marked = view.dialog->marked();
  if (marked == wanted_)
    return view.now < moved_ + gap_ ? Decision{Step::Wait, moved_ + gap_} : confirm(Step::Enter, view.now);
  if (view.now >= since_ + kChoosingTimeout)
    return {Step::Failed,
            {},
            "its mark did not move in time; answer it on its own screen: `agent-relay attach`",
            NackCode::Unsupported};
  // The mark is not visible during a redraw, or has not moved yet.
  if (!marked || marked == moved_from_) return {Step::Wait, since_ + kChoosingTimeout};
  return move(*marked, view.now);
}

DialogAnswer::Decision DialogAnswer::move(std::size_t from, SteadyTime now) {
  const auto distance = [&](std::size_t at) { return at > wanted_ ? at - wanted_ : wanted_ - at; };
  if (moved_from_ && distance(from) >= distance(*moved_from_))
    return {Step::Failed,
            {},
            "its mark moves in another order than the choices are shown; answer it on its own screen",
            NackCode::Unsupported};
  moved_from_ = from;
  moved_ = now;
  return {from < wanted_ ? Step::Down : Step::Up, since_ + kChoosingTimeout};
}

DialogAnswer::Decision DialogAnswer::confirm(Step step, SteadyTime now) {
  confirmed_at_ = now;
  return {step, now + kCloseTimeout};
}

}  // namespace relay::host
