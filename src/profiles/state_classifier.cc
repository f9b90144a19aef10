#include "profiles/state_classifier.h"

#include "base/format.h"

namespace relay::profiles {
namespace {

using terminal::ProgramState;

State state_from(ProgramState state) {
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

State state_from(CompiledProfile::TitleState title) {
  switch (title) {
    case CompiledProfile::TitleState::Blocked: return State::Blocked;
    case CompiledProfile::TitleState::Working: return State::Working;
    case CompiledProfile::TitleState::Idle: return State::Idle;
    case CompiledProfile::TitleState::Nothing: break;
  }
  return State::Unknown;
}

std::string dialog_detail(const profiles::ScreenFindings& findings) {
  if (findings.of_setup)
    return format("its dialog {} is open",
                  findings.permission ? findings.permission->pattern : findings.question->pattern);
  return findings.permission ? "it asks for permission" : "a dialog is open";
}

/// There is text at the cursor, and the program reads keys: some kind of prompt.
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
    case Blocker::Dialog: return "a dialog is open";
    case Blocker::UnknownScreen: return "the screen is not recognized";
    case Blocker::Silent: return "it has had no output and shows no prompt";
  }
  return "";
}

StateEstimate StateClassifier::classify(const ScreenFrame& frame, const ScreenAnalysis& analysis) {
  StateEstimate estimate;
  bool blocked = false, working = false;
  const auto add_evidence = [&](std::string_view source, State state, std::string detail) {
    blocked = blocked || state == State::Blocked;
    working = working || state == State::Working;
    estimate.evidence.push_back({source, std::move(detail)});
  };
  if (const State state = state_from(frame.status.state); state != State::Unknown)
    add_evidence("status", state,
                 format("{}{}", name_of(state), frame.status.state == ProgramState::Error ? ", after an error" : ""));
  if (const State state = state_from(profile_.title_state(frame.title)); state != State::Unknown)
    add_evidence("title", state, format("{} (\"{}\")", name_of(state), frame.title));
  if (analysis.working_mark) add_evidence("screen", State::Working, "a working indicator is on the screen");
  const auto& composer = analysis.composer;
  const bool has_dialog = analysis.findings.permission || analysis.findings.question;
  // Dialogs in the agent's text do not count: while a frame is drawn they may be visible without the composer.
  estimate.vanished = was_ready_ && analysis.dialog_mark_in_text && !has_dialog && !blocked && !working;
  if (analysis.dialog_mark || has_dialog) add_evidence("screen", State::Blocked, dialog_detail(analysis.findings));
  if (composer) {
    was_ready_ = true;
    estimate.evidence.push_back({"composer", !composer->focused         ? "visible, the cursor is elsewhere"
                                             : !composer->draft.empty() ? "holds a draft"
                                                                        : "empty and focused"});
  } else if (was_ready_ && !working && !blocked && profile_.profile().composer.line_mode && !reads_keys(frame)) {
    add_evidence("composer", State::Working, "the prompt disappeared and no keys are read: a line was sent");
    estimate.presumed = true;
  } else if (was_ready_ && !working && !blocked) {
    add_evidence("composer", State::Blocked, "the composer disappeared: an unknown dialog may be open");
    estimate.blocker = Blocker::UnknownScreen;
    estimate.vanished = !profile_.profile().composer.line_mode;  // such a program removes its prompt with every line
  } else {
    estimate.evidence.push_back({"composer", "not visible"});
  }
  if (blocked)
    estimate.state = State::Blocked;
  else if (working)
    estimate.state = State::Working;
  else if (composer && composer->focused)
    estimate.state = composer->draft.empty() ? State::Idle : State::Typing;
  else if (composer)
    estimate.vanished = true;  // the cursor is elsewhere, as in the middle of a frame
  return estimate;
}

void StateClassifier::mark_silent(StateEstimate& estimate) {
  estimate.state = State::Blocked;
  estimate.blocker = Blocker::Silent;
  estimate.presumed = false;
  estimate.evidence.push_back({"composer", "no output and no prompt: an unknown dialog may be open"});
}

void StateClassifier::mark_unknown_screen(StateEstimate& estimate) {
  estimate.state = State::Blocked;
  estimate.blocker = Blocker::UnknownScreen;
  estimate.evidence.push_back({"screen", std::string{kUnrecognizedScreen}});
}

void StateClassifier::mark_not_ready(StateEstimate& estimate) {
  estimate.state = State::Unknown;
  estimate.evidence.push_back({"screen", "the program is still starting"});
}

}  // namespace relay::profiles
