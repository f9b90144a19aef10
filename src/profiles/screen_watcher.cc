#include "profiles/screen_watcher.h"

#include <algorithm>

#include "commands/injected_message.h"
#include "commands/screen_extractor.h"

namespace relay::profiles {
namespace {

constexpr std::size_t kMaxReported = 64;  // distinct counts and limits reported per turn

/// The frame is incomplete: the program marks it, or the cursor is away while a prompt is redrawn.
bool half_drawn(const terminal::Modes& modes, bool line_mode) {
  return modes.synchronized || (line_mode && modes.bracketed_paste && !modes.cursor_visible);
}

bool is_blank(const ScreenFrame& frame) { return std::ranges::all_of(frame.rows, &ScreenRow::blank); }

constexpr std::string_view kSilentWithoutPrompt = "the agent is silent without a prompt, and may ask something";

/// The text of the screen, for a user who does not see it.
profiles::QuestionDialog question_about(const ScreenFrame& frame, std::string_view text) {
  std::vector<std::string> rows;
  for (auto row = frame.screen_top; row < frame.rows.size(); ++row) rows.push_back(frame.rows[row].text);
  return {.pattern = std::string{profiles::kUnknownScreen},
          .text = std::string{text},
          .choices = {},
          .body = profiles::said_in(rows)};
}

bool is_at_rest(State state) { return state == State::Idle || state == State::Typing; }

}  // namespace

ScreenWatcher::ScreenWatcher(const CompiledProfile& compiled, commands::GrammarOptions grammar)
    : profile_{compiled}, grammar_{std::move(grammar)}, judge_{compiled} {
  grammar_.surface = commands::Surface::Screen;
}

std::optional<SteadyTime> ScreenWatcher::next_update_at() const {
  auto soonest = settled_at();
  for (const auto& each : {silent_at(), strange_at(), started_at(), frame_ends_})
    if (each) soonest = soonest ? std::min(*soonest, *each) : *each;
  return soonest;
}

/// When the turn ends, if nothing changes any more.
std::optional<SteadyTime> ScreenWatcher::settled_at() const {
  if (!turn_open_ || !is_at_rest(verdict_.state)) return std::nullopt;
  return quiet_since_ + kSettle;
}

/// When a presumed worker has been silent for too long.
std::optional<SteadyTime> ScreenWatcher::silent_at() const {
  return verdict_.presumed ? std::optional{drawn_at_ + kIdleTimeout} : std::nullopt;
}

/// When an undescribed screen was unchanged for too long, or changed long enough ago to be read again.
std::optional<SteadyTime> ScreenWatcher::strange_at() const {
  if (!unknown_since_ || (unknown_screen_ && drawn_at_ <= strange_read_at_)) return std::nullopt;
  const auto still = std::max(drawn_at_, *unknown_since_) + kUnknownScreenDelay;
  return unknown_screen_ ? still : std::min(still, *unknown_since_ + kMaxUnknownScreen);
}

/// When a composer was visible long enough for the program to count as started.
std::optional<SteadyTime> ScreenWatcher::started_at() const {
  if (ready_ || !composer_since_) return std::nullopt;
  return *composer_since_ + kStart;
}

/// A program may draw its composer before it takes prompts.
void ScreenWatcher::notice_start(const ScreenFrame& frame, StateEstimate& verdict, SteadyTime now) {
  if (ready_ || !picture_.composer) return;
  if (!composer_since_) composer_since_ = now;
  ready_ = verdict.state == State::Working || now >= *composer_since_ + kStart || profile_.is_ready(frame);
  if (!ready_ && verdict.state == State::Idle) StateClassifier::not_ready(verdict);
}

/// The composer may be redrawn, or the program may be ending: the last state counts until that is certain.
bool ScreenWatcher::has_just_vanished(const StateEstimate& verdict, SteadyTime now) {
  if (!verdict.vanished)
    vanished_since_.reset();
  else if (!vanished_since_)
    vanished_since_ = now;
  if (!verdict.vanished || verdict.state != State::Blocked)
    covered_since_.reset();
  else if (!covered_since_)
    covered_since_ = now;
  return vanished_since_ && now < *vanished_since_ + kVanished;
}

/// Before its first composer an agent shows setup dialogs; later a menu or a dialog may replace the composer.
void ScreenWatcher::notice_strangeness(const ScreenFrame& frame, StateEstimate& verdict, SteadyTime now) {
  const auto& findings = picture_.findings;
  const bool unread = verdict.state == State::Blocked && !findings.permission && !findings.question;
  const bool nothing_known = verdict.state == State::Unknown && !judge_.was_ready();
  if ((!unread && !nothing_known) || !profile_.has_composer() || is_blank(frame)) {
    unknown_since_.reset();
    unknown_screen_.reset();
    return;
  }
  if (!unknown_since_) unknown_since_ = now;
  if (const auto due = strange_at(); due && now >= *due) {
    unknown_screen_ = question_about(frame, kNotUnderstood);
    strange_read_at_ = now;
  }
  if (!unknown_screen_) return;
  if (!judge_.was_ready()) StateClassifier::not_understood(verdict);
  picture_.findings.question = unknown_screen_;
}

std::vector<Observation> ScreenWatcher::finish() {
  std::vector<Observation> out;
  if (turn_open_ && idle_after_turn_) hear_turn(out);
  return out;
}

std::vector<Observation> ScreenWatcher::update(const terminal::Screen& screen, SteadyTime now) {
  std::vector<Observation> out;
  // A silence that was long enough counts, even if this update changes the screen.
  if (const auto due = settled_at(); due && now >= *due) hear_turn(out);
  if (const auto due = silent_at(); due && now >= *due) {
    StateClassifier::mark_silent(verdict_);
    picture_.findings.question = question_about(read_frame(screen), kSilentWithoutPrompt);
    out.emplace_back(StateChanged{verdict_});
  }
  if (!half_drawn(screen.modes(), profile_.profile().composer.line_mode))
    frame_since_.reset();
  else if (!frame_since_)
    frame_since_ = now;
  frame_ends_.reset();
  if (frame_since_ && now < *frame_since_ + kMaxFrame) {
    frame_ends_ = *frame_since_ + kMaxFrame;
    return out;
  }
  ScreenKey glance{.revision = screen.revision(),
                   .cursor_row = screen.cursor().row,
                   .takes_pastes = screen.modes().bracketed_paste,
                   .title = screen.title(),
                   .status = screen.program_status()};
  const auto is_due = [now](std::optional<SteadyTime> at) { return at && now >= *at; };
  if (seen_ == glance && !is_due(strange_at()) && !is_due(started_at())) return out;
  if (seen_ != glance) drawn_at_ = now;
  const ScreenFrame frame = read_frame(screen);
  auto analysis = profile_.analyze(frame);
  auto verdict = judge_.classify(frame, analysis);
  if (has_just_vanished(verdict, now)) {
    frame_ends_ = *vanished_since_ + kVanished;
    return out;
  }
  seen_ = std::move(glance);
  picture_ = std::move(analysis);
  notice_strangeness(frame, verdict, now);
  notice_start(frame, verdict, now);
  if (verdict.state == State::Working && !turn_open_) {
    turn_open_ = true;
    limits_.clear();
    usage_.clear();
  }
  if (verdict.state == State::Working || is_at_rest(verdict.state)) idle_after_turn_ = is_at_rest(verdict.state);
  // A dialog hides or moves the conversation; the rows under it are visible again when it closes.
  if (verdict.state != State::Blocked && verdict.state != State::Unknown)
    conversation_.see(picture_.conversation,
                      turn_open_ ? ConversationTracker::Turn::Open : ConversationTracker::Turn::Over);
  if (verdict.state != verdict_.state || conversation_.revision() != conversation_revision_) quiet_since_ = now;
  conversation_revision_ = conversation_.revision();
  const bool changed = verdict.state != verdict_.state;
  verdict_ = verdict;
  if (changed) out.emplace_back(StateChanged{verdict_});
  report_findings(out);
  return out;
}

void ScreenWatcher::report_findings(std::vector<Observation>& out) {
  const auto& findings = picture_.findings;
  const bool blocked = verdict_.state == State::Blocked;
  const auto once = [&](const auto& found, std::string& told, const std::string& text) {
    if (!blocked || !found) {
      told.clear();
    } else if (told != text) {
      told = text;
      out.emplace_back(*found);
    }
  };
  once(findings.permission, permission_,
       findings.permission ? findings.permission->pattern + findings.permission->command : "");
  once(findings.question, question_, findings.question ? findings.question->pattern + findings.question->text : "");
  const auto new_ones = [&](const auto& found, std::vector<std::string>& told, auto text_of) {
    for (const auto& each : found) {
      const std::string text = text_of(each);
      if (std::ranges::find(told, text) != told.end()) continue;
      if (told.size() >= kMaxReported) told.clear();
      told.push_back(text);
      out.emplace_back(each);
    }
  };
  new_ones(findings.limits, limits_, [](const profiles::ScreenLimit& limit) { return limit.pattern + limit.what; });
  new_ones(findings.usage, usage_, [](const profiles::ScreenUsage& usage) {
    return usage.pattern + std::to_string(usage.total_tokens.value_or(0)) +
           std::to_string(usage.input_tokens.value_or(0)) + std::to_string(usage.output_tokens.value_or(0));
  });
}

void ScreenWatcher::hear_turn(std::vector<Observation>& out) {
  turn_open_ = false;
  std::vector<commands::ScreenLine> rows;
  for (auto& paragraph : conversation_.end_turn()) {
    const bool echo = !paragraph.lines.empty() && commands::is_injected_line(paragraph.lines.front().text);
    if (paragraph.kind == RowKind::Assistant && !echo) std::ranges::move(paragraph.lines, std::back_inserter(rows));
    rows.push_back({});  // ends the paragraph
  }
  for (auto& utterance : commands::extract_from_screen(rows, grammar_)) {
    std::visit([&](auto& said) { said.location.line += rows_heard_; }, utterance);
    out.emplace_back(CommandSeen{std::move(utterance)});
  }
  rows_heard_ += rows.size();
}

}  // namespace relay::profiles
