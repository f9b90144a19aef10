#include "profiles/screen_watcher.h"

#include <algorithm>

#include "commands/injected_message.h"
#include "commands/screen_extractor.h"

namespace relay::profiles {
namespace {

constexpr std::size_t kMaxReported = 64;  // distinct counts and limits reported per turn

/// The frame is incomplete: the program marks it, or the cursor is elsewhere while a prompt is redrawn.
bool is_partial_frame(const terminal::Modes& modes, bool line_mode) {
  return modes.synchronized || (line_mode && modes.bracketed_paste && !modes.cursor_visible);
}

bool is_blank(const ScreenFrame& frame) { return std::ranges::all_of(frame.rows, &ScreenRow::blank); }

constexpr std::string_view kSilentWithoutPrompt =
    "the agent has had no output and shows no prompt; it may show a question";

/// The text of the screen, for a user who is not attached.
profiles::QuestionDialog screen_question(const ScreenFrame& frame, std::string_view text) {
  std::vector<std::string> rows;
  for (auto row = frame.screen_top; row < frame.rows.size(); ++row) rows.push_back(frame.rows[row].text);
  return {.pattern = std::string{profiles::kUnknownScreen},
          .text = std::string{text},
          .choices = {},
          .body = profiles::dialog_text(rows)};
}

bool is_idle_or_typing(State state) { return state == State::Idle || state == State::Typing; }

}  // namespace

ScreenWatcher::ScreenWatcher(const CompiledProfile& compiled, commands::GrammarOptions grammar)
    : profile_{compiled}, grammar_{std::move(grammar)}, classifier_{compiled} {
  grammar_.surface = commands::Surface::Screen;
}

std::optional<SteadyTime> ScreenWatcher::next_update_at() const {
  auto soonest = turn_ends_at();
  for (const auto& each : {idle_timeout_at(), unknown_screen_due_at(), started_at(), frame_ends_})
    if (each) soonest = soonest ? std::min(*soonest, *each) : *each;
  return soonest;
}

/// When the turn ends, if nothing changes any more.
std::optional<SteadyTime> ScreenWatcher::turn_ends_at() const {
  if (!turn_open_ || !is_idle_or_typing(estimate_.state)) return std::nullopt;
  return stable_since_ + kStableTime;
}

/// When a program that is presumed to be working exceeds the idle timeout.
std::optional<SteadyTime> ScreenWatcher::idle_timeout_at() const {
  return estimate_.presumed ? std::optional{drawn_at_ + kIdleTimeout} : std::nullopt;
}

/// When an undescribed screen is reported, or read again after a change.
std::optional<SteadyTime> ScreenWatcher::unknown_screen_due_at() const {
  if (!unknown_since_ || (unknown_screen_ && drawn_at_ <= unknown_screen_read_at_)) return std::nullopt;
  const auto still = std::max(drawn_at_, *unknown_since_) + kUnknownScreenDelay;
  return unknown_screen_ ? still : std::min(still, *unknown_since_ + kMaxUnknownScreen);
}

/// When the program counts as started because its composer has been visible for kReadyTimeout.
std::optional<SteadyTime> ScreenWatcher::started_at() const {
  if (ready_ || !composer_since_) return std::nullopt;
  return *composer_since_ + kReadyTimeout;
}

/// A program may draw its composer before it accepts prompts.
void ScreenWatcher::update_readiness(const ScreenFrame& frame, StateEstimate& estimate, SteadyTime now) {
  if (ready_ || !analysis_.composer) return;
  if (!composer_since_) composer_since_ = now;
  ready_ = estimate.state == State::Working || now >= *composer_since_ + kReadyTimeout || profile_.is_ready(frame);
  if (!ready_ && estimate.state == State::Idle) StateClassifier::mark_not_ready(estimate);
}

/// The composer may be redrawn, or the program may be ending: the last state counts until kVanished.
bool ScreenWatcher::has_just_vanished(const StateEstimate& estimate, SteadyTime now) {
  if (!estimate.vanished)
    vanished_since_.reset();
  else if (!vanished_since_)
    vanished_since_ = now;
  if (!estimate.vanished || estimate.state != State::Blocked)
    covered_since_.reset();
  else if (!covered_since_)
    covered_since_ = now;
  return vanished_since_ && now < *vanished_since_ + kVanished;
}

/// Before its first composer an agent shows setup dialogs; later a menu or a dialog may replace the composer.
void ScreenWatcher::update_unknown_screen(const ScreenFrame& frame, StateEstimate& estimate, SteadyTime now) {
  const auto& findings = analysis_.findings;
  const bool unrecognized = estimate.state == State::Blocked && !findings.permission && !findings.question;
  const bool no_evidence = estimate.state == State::Unknown && !classifier_.was_ready();
  if ((!unrecognized && !no_evidence) || !profile_.has_composer() || is_blank(frame)) {
    unknown_since_.reset();
    unknown_screen_.reset();
    return;
  }
  if (!unknown_since_) unknown_since_ = now;
  if (const auto due = unknown_screen_due_at(); due && now >= *due) {
    unknown_screen_ = screen_question(frame, kUnrecognizedScreen);
    unknown_screen_read_at_ = now;
  }
  if (!unknown_screen_) return;
  if (!classifier_.was_ready()) StateClassifier::mark_unknown_screen(estimate);
  analysis_.findings.question = unknown_screen_;
}

std::vector<Observation> ScreenWatcher::finish() {
  std::vector<Observation> out;
  if (turn_open_ && idle_after_turn_) extract_turn(out);
  return out;
}

std::vector<Observation> ScreenWatcher::update(const terminal::Screen& screen, SteadyTime now) {
  std::vector<Observation> out;
  // A turn that settled before this update ends, even if the update changes the screen.
  if (const auto due = turn_ends_at(); due && now >= *due) extract_turn(out);
  if (const auto due = idle_timeout_at(); due && now >= *due) {
    StateClassifier::mark_silent(estimate_);
    analysis_.findings.question = screen_question(read_frame(screen), kSilentWithoutPrompt);
    out.emplace_back(StateChanged{estimate_});
  }
  if (!is_partial_frame(screen.modes(), profile_.profile().composer.line_mode))
    frame_since_.reset();
  else if (!frame_since_)
    frame_since_ = now;
  frame_ends_.reset();
  if (frame_since_ && now < *frame_since_ + kMaxFrame) {
    frame_ends_ = *frame_since_ + kMaxFrame;
    return out;
  }
  ScreenKey key{.revision = screen.revision(),
                .cursor_row = screen.cursor().row,
                .takes_pastes = screen.modes().bracketed_paste,
                .title = screen.title(),
                .status = screen.program_status()};
  const auto is_due = [now](std::optional<SteadyTime> at) { return at && now >= *at; };
  if (last_key_ == key && !is_due(unknown_screen_due_at()) && !is_due(started_at())) return out;
  if (last_key_ != key) drawn_at_ = now;
  const ScreenFrame frame = read_frame(screen);
  auto analysis = profile_.analyze(frame);
  auto estimate = classifier_.classify(frame, analysis);
  if (has_just_vanished(estimate, now)) {
    frame_ends_ = *vanished_since_ + kVanished;
    return out;
  }
  last_key_ = std::move(key);
  analysis_ = std::move(analysis);
  update_unknown_screen(frame, estimate, now);
  update_readiness(frame, estimate, now);
  if (estimate.state == State::Working && !turn_open_) {
    turn_open_ = true;
    limits_.clear();
    usage_.clear();
  }
  if (estimate.state == State::Working || is_idle_or_typing(estimate.state))
    idle_after_turn_ = is_idle_or_typing(estimate.state);
  // A dialog hides or moves the conversation; the rows under it are visible again when it closes.
  if (estimate.state != State::Blocked && estimate.state != State::Unknown)
    conversation_.update(analysis_.conversation,
                         turn_open_ ? ConversationTracker::Turn::Open : ConversationTracker::Turn::Ended);
  if (estimate.state != estimate_.state || conversation_.revision() != conversation_revision_) stable_since_ = now;
  conversation_revision_ = conversation_.revision();
  const bool changed = estimate.state != estimate_.state;
  estimate_ = estimate;
  if (changed) out.emplace_back(StateChanged{estimate_});
  report_findings(out);
  return out;
}

void ScreenWatcher::report_findings(std::vector<Observation>& out) {
  const auto& findings = analysis_.findings;
  const bool blocked = estimate_.state == State::Blocked;
  const auto report_once = [&](const auto& found, std::string& reported, const std::string& text) {
    if (!blocked || !found) {
      reported.clear();
    } else if (reported != text) {
      reported = text;
      out.emplace_back(*found);
    }
  };
  report_once(findings.permission, permission_,
              findings.permission ? findings.permission->pattern + findings.permission->command : "");
  report_once(findings.question, question_,
              findings.question ? findings.question->pattern + findings.question->text : "");
  const auto report_new = [&](const auto& found, std::vector<std::string>& reported, auto text_of) {
    for (const auto& each : found) {
      const std::string text = text_of(each);
      if (std::ranges::find(reported, text) != reported.end()) continue;
      if (reported.size() >= kMaxReported) reported.clear();
      reported.push_back(text);
      out.emplace_back(each);
    }
  };
  report_new(findings.limits, limits_, [](const profiles::ScreenLimit& limit) { return limit.pattern + limit.what; });
  report_new(findings.usage, usage_, [](const profiles::ScreenUsage& usage) {
    return usage.pattern + std::to_string(usage.total_tokens.value_or(0)) +
           std::to_string(usage.input_tokens.value_or(0)) + std::to_string(usage.output_tokens.value_or(0));
  });
}

void ScreenWatcher::extract_turn(std::vector<Observation>& out) {
  turn_open_ = false;
  std::vector<commands::ScreenLine> rows;
  for (auto& paragraph : conversation_.end_turn()) {
    const bool echo = !paragraph.lines.empty() && commands::is_injected_line(paragraph.lines.front().text);
    if (paragraph.kind == RowKind::Assistant && !echo) std::ranges::move(paragraph.lines, std::back_inserter(rows));
    rows.push_back({});  // ends the paragraph
  }
  for (auto& command : commands::extract_from_screen(rows, grammar_)) {
    std::visit([&](auto& each) { each.location.line += rows_extracted_; }, command);
    out.emplace_back(CommandSeen{std::move(command)});
  }
  rows_extracted_ += rows.size();
}

}  // namespace relay::profiles
