#include "host/prompts/dialog_driver.h"

#include <utility>

#include "host/delivery/injection.h"

namespace relay::host {

using protocol::NackCode;
using terminal::NamedKey;

void DialogDriver::begin(const AnswerPrompt& wish, const View& view, Done done) {
  if (under_way_)
    return done(fail(NackCode::Busy, "something else is being answered at this moment; try again in a second"));
  const auto seen = view.asking != nullptr ? *view.asking : profiles::ScreenFindings{};
  if (const auto may = native_.may_press(wish, seen); !may) return done(Failure{may.error()});
  // What was typed before it asked went elsewhere.
  if (view.typed >= view.since && view.now < view.typed + kUserIdleTime)
    return done(fail(NackCode::Busy, "somebody has just typed at the agent's terminal; try again in two seconds"));
  const auto dialog = *dialog_in(seen);
  const auto choice = choice_for(dialog, wish.reply);
  if (!choice) return done(Failure{choice.error()});
  under_way_.emplace(wish, DialogAnswer{dialog, *choice, how_, gap_, view.now}, std::move(done));
}

std::optional<SteadyTime> DialogDriver::look(const View& view) {
  if (!under_way_) return std::nullopt;
  if (!view.steady) return under_way_->recheck;
  const auto dialog = view.asking != nullptr ? dialog_in(*view.asking) : std::nullopt;
  const auto decision = under_way_->answering.decide({.now = view.now,
                                                      .dialog = dialog ? &*dialog : nullptr,
                                                      .asked = native_.is_asked(under_way_->wish),
                                                      .typed = view.typed});
  under_way_->recheck = decision.recheck;
  if (decision.step == DialogAnswer::Step::Taken)
    end({});
  else if (decision.step == DialogAnswer::Step::Failed)
    end(fail(decision.refusal, std::string{decision.why}));
  else
    press(decision.step);
  return decision.recheck;
}

void DialogDriver::on_agent_gone() {
  if (under_way_) end(fail(NackCode::Stale, "the agent has ended"));
}

void DialogDriver::press(DialogAnswer::Step step) {
  under_way_->touched = under_way_->touched || step != DialogAnswer::Step::Wait;
  switch (step) {
    case DialogAnswer::Step::Up: return press_({.name = NamedKey::Up});
    case DialogAnswer::Step::Down: return press_({.name = NamedKey::Down});
    case DialogAnswer::Step::LetterAndEnter:
      native_.press(under_way_->wish);
      for (const char letter : under_way_->answering.letter())
        press_({.character = static_cast<char32_t>(static_cast<unsigned char>(letter))});
      return press_({.name = NamedKey::Enter});
    case DialogAnswer::Step::OwnKey:
      native_.press(under_way_->wish);
      if (const auto key = terminal::parse_key(under_way_->answering.own_key())) press_(*key);
      return;
    case DialogAnswer::Step::Enter: native_.press(under_way_->wish); return press_({.name = NamedKey::Enter});
    case DialogAnswer::Step::Wait:
    case DialogAnswer::Step::Taken:
    case DialogAnswer::Step::Failed: return;
  }
}

void DialogDriver::end(Result<void> outcome) {
  auto ended = std::exchange(under_way_, std::nullopt);
  // Another key might meet the ones that the agent has not read yet.
  if (!outcome && ended->touched) native_.leave_alone(ended->wish);
  if (outcome) native_.taken(ended->wish);
  ended->done(std::move(outcome));
}

}  // namespace relay::host
