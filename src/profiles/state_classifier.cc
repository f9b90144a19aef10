#include "profiles/state_classifier.h"

#include "base/format.h"

namespace relay::profiles {
namespace {

using terminal::ProgramState;

State said_by(ProgramState state) {
  switch (state) {
    case ProgramState::Working: return State::Working;
    case ProgramState::Blocked: return State::Blocked;
    case ProgramState::Idle:
    case ProgramState::Done:
    case ProgramState::Error: return State::Idle;
    case ProgramState::Clear: break;
  }
  return State::Unknown;
}

State said_by(CompiledProfile::TitleState says) {
  switch (says) {
    case CompiledProfile::TitleState::Blocked: return State::Blocked;
    case CompiledProfile::TitleState::Working: return State::Working;
    case CompiledProfile::TitleState::Idle: return State::Idle;
    case CompiledProfile::TitleState::Nothing: break;
  }
  return State::Unknown;
}

std::string said_by(const profiles::ScreenFindings& findings) {
  if (findings.of_setup)
    return format("its dialog {} is open",
                  findings.permission ? findings.permission->pattern : findings.question->pattern);
  return findings.permission ? "it asks for permission" : "a dialog is open";
}

/// There is text where the cursor waits, and the program reads keys: some kind of prompt.
bool reads_keys(const ScreenFrame& frame) { return frame.takes_pastes && !frame.rows[frame.cursor_row].blank(); }

}  // namespace

std::string_view name_of(State state) {
  switch (state) {
    case State::Unknown: return "unknown";
    case State::Idle: return "idle";
    case State::Typing: return "typing";
    case State::Working: return "working";
    case State::Blocked: return "blocked";
  }
  return "";
}

std::string_view reason_of(Blocker blocker) {
  switch (blocker) {
    case Blocker::Known: return "a dialog is open";
    case Blocker::UnknownScreen: return "the screen is not understood";
    case Blocker::Silence: return "it is silent without a prompt";
  }
  return "";
}

StateEstimate StateClassifier::classify(const ScreenFrame& frame, const ScreenAnalysis& analysis) {
  StateEstimate verdict;
  bool blocked = false, working = false;
  const auto hear = [&](std::string_view witness, State state, std::string says) {
    blocked = blocked || state == State::Blocked;
    working = working || state == State::Working;
    verdict.evidence.push_back({witness, std::move(says)});
  };
  if (const State state = said_by(frame.status.state); state != State::Unknown)
    hear("status", state,
         format("{}{}", name_of(state), frame.status.state == ProgramState::Error ? ", after an error" : ""));
  if (const State state = said_by(profile_.title_state(frame.title)); state != State::Unknown)
    hear("title", state, format("{} (\"{}\")", name_of(state), frame.title));
  if (analysis.working_mark) hear("screen", State::Working, "a mark of work is drawn");
  const auto& composer = analysis.composer;
  const bool asks = analysis.findings.permission || analysis.findings.question;
  // Dialogs in the agent's text do not count: while a frame is drawn they may be visible without the composer.
  verdict.vanished = was_ready_ && analysis.dialog_in_words && !asks && !blocked && !working;
  if (analysis.dialog_mark || asks) hear("screen", State::Blocked, said_by(analysis.findings));
  if (composer) {
    was_ready_ = true;
    verdict.evidence.push_back({"composer", !composer->focused         ? "seen, the cursor is elsewhere"
                                            : !composer->draft.empty() ? "holds a draft"
                                                                       : "empty and in focus"});
  } else if (was_ready_ && !working && !blocked && profile_.profile().composer.line_mode && !reads_keys(frame)) {
    hear("composer", State::Working, "the prompt is gone, no keys are read: a line was sent");
    verdict.presumed = true;
  } else if (was_ready_ && !working && !blocked) {
    hear("composer", State::Blocked, "the composer is gone: something we do not know is open");
    verdict.blocker = Blocker::UnknownScreen;
    verdict.vanished = !profile_.profile().composer.line_mode;  // such a program removes its prompt with every line
  } else {
    verdict.evidence.push_back({"composer", "not seen"});
  }
  if (blocked)
    verdict.state = State::Blocked;
  else if (working)
    verdict.state = State::Working;
  else if (composer && composer->focused)
    verdict.state = composer->draft.empty() ? State::Idle : State::Typing;
  else if (composer)
    verdict.vanished = true;  // the cursor is elsewhere, as in the middle of a frame
  return verdict;
}

void StateClassifier::mark_silent(StateEstimate& verdict) {
  verdict.state = State::Blocked;
  verdict.blocker = Blocker::Silence;
  verdict.presumed = false;
  verdict.evidence.push_back({"composer", "silent without a prompt: something we do not know may be open"});
}

void StateClassifier::not_understood(StateEstimate& verdict) {
  verdict.state = State::Blocked;
  verdict.blocker = Blocker::UnknownScreen;
  verdict.evidence.push_back({"screen", std::string{kNotUnderstood}});
}

void StateClassifier::not_ready(StateEstimate& verdict) {
  verdict.state = State::Unknown;
  verdict.evidence.push_back({"screen", "the program is still starting"});
}

}  // namespace relay::profiles
