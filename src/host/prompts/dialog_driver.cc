#include "host/prompts/dialog_driver.h"

#include <utility>

#include "host/delivery/injection.h"

namespace relay::host {

using protocol::NackCode;
using terminal::NamedKey;

void DialogDriver::start(const AnswerPrompt& request, const View& view, Done done) {
  if (active_) return done(fail(NackCode::Busy, "another prompt is being answered; try again in a second"));
  const auto findings = view.dialog != nullptr ? *view.dialog : profiles::ScreenFindings{};
  if (const auto allowed = adapter_.check_keys(request, findings); !allowed) return done(Failure{allowed.error()});
  // Keys typed before the dialog opened do not count.
  if (view.typed >= view.since && view.now < view.typed + kUserIdleTime)
    return done(fail(NackCode::Busy, "the user has just typed at the agent's terminal; try again in two seconds"));
  const auto dialog = *dialog_in(findings);
  const auto choice = choice_for(dialog, request.reply);
  if (!choice) return done(Failure{choice.error()});
  active_.emplace(request, DialogAnswer{dialog, *choice, keys_, gap_, view.now}, std::move(done));
}

std::optional<SteadyTime> DialogDriver::update(const View& view) {
  if (!active_) return std::nullopt;
  if (!view.steady) return active_->recheck;
  const auto dialog = view.dialog != nullptr ? dialog_in(*view.dialog) : std::nullopt;
  const auto decision = active_->answer.decide({.now = view.now,
                                                .dialog = dialog ? &*dialog : nullptr,
                                                .is_open = adapter_.is_open(active_->request),
                                                .typed = view.typed});
  active_->recheck = decision.recheck;
  if (decision.step == DialogAnswer::Step::Accepted)
    end({});
  else if (decision.step == DialogAnswer::Step::Failed)
    end(fail(decision.code, std::string{decision.error}));
  else
    press(decision.step);
  return decision.recheck;
}

void DialogDriver::on_agent_exit() {
  if (active_) end(fail(NackCode::Stale, "the agent has ended"));
}

void DialogDriver::press(DialogAnswer::Step step) {
  active_->touched = active_->touched || step != DialogAnswer::Step::Wait;
  switch (step) {
    case DialogAnswer::Step::Up: return press_key_({.name = NamedKey::Up});
    case DialogAnswer::Step::Down: return press_key_({.name = NamedKey::Down});
    case DialogAnswer::Step::LetterAndEnter:
      adapter_.press(active_->request);
      for (const char letter : active_->answer.letter())
        press_key_({.character = static_cast<char32_t>(static_cast<unsigned char>(letter))});
      return press_key_({.name = NamedKey::Enter});
    case DialogAnswer::Step::Shortcut:
      adapter_.press(active_->request);
      if (const auto key = terminal::parse_key(active_->answer.shortcut_key())) press_key_(*key);
      return;
    case DialogAnswer::Step::Enter: adapter_.press(active_->request); return press_key_({.name = NamedKey::Enter});
    case DialogAnswer::Step::Wait:
    case DialogAnswer::Step::Accepted:
    case DialogAnswer::Step::Failed: return;
  }
}

void DialogDriver::end(Result<void> outcome) {
  auto ended = std::exchange(active_, std::nullopt);
  // The agent may not have read the pressed keys yet.
  if (!outcome && ended->touched) adapter_.abandon(ended->request);
  if (outcome) adapter_.on_answer_accepted(ended->request);
  ended->done(std::move(outcome));
}

}  // namespace relay::host
