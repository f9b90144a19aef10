#include "profiles/screen_watcher.h"

#include <algorithm>

#include "commands/injected_message.h"
#include "commands/screen_extractor.h"

namespace relay::profiles {
namespace {

constexpr std::size_t kMaxTold = 64;  // different counts and limits remembered within a turn

/// A frame is not complete: said by the program, or seen by the cursor that is away while a prompt is drawn anew.
bool half_drawn(const terminal::Modes& modes, bool line_mode) {
  return modes.synchronized || (line_mode && modes.bracketed_paste && !modes.cursor_visible);
}

bool is_blank(const ScreenFrame& sight) { return std::ranges::all_of(sight.rows, &ScreenRow::blank); }

constexpr std::string_view kSilentWithoutPrompt = "the agent is silent without a prompt, and may ask something";

/// What the screen says, for a person who does not see it.
profiles::QuestionDialog question_about(const ScreenFrame& sight, std::string_view text) {
  std::vector<std::string> rows;
  for (auto row = sight.screen_top; row < sight.rows.size(); ++row) rows.push_back(sight.rows[row].text);
  return {.pattern = std::string{profiles::kUnknownScreen},
          .text = std::string{text},
          .choices = {},
          .body = profiles::said_in(rows)};
}

bool is_at_rest(State state) { return state == State::Idle || state == State::Typing; }

}  // namespace

ScreenWatcher::ScreenWatcher(const CompiledProfile& eyes, commands::GrammarOptions grammar)
    : eyes_{eyes}, grammar_{std::move(grammar)}, judge_{eyes} {
  grammar_.surface = commands::Surface::Screen;
}

std::optional<SteadyTime> ScreenWatcher::next_update_at() const {
  auto soonest = settled_at();
  for (const auto& each : {silent_at(), strange_at(), started_at(), frame_ends_})
    if (each) soonest = soonest ? std::min(*soonest, *each) : *each;
  return soonest;
}

/// When the turn is over, if nothing changes any more.
std::optional<SteadyTime> ScreenWatcher::settled_at() const {
  if (!turn_open_ || !is_at_rest(verdict_.state)) return std::nullopt;
  return quiet_since_ + kSettle;
}

/// When a program that is only taken to work has been silent for too long.
std::optional<SteadyTime> ScreenWatcher::silent_at() const {
  return verdict_.presumed ? std::optional{drawn_at_ + kIdleTimeout} : std::nullopt;
}

/// When a screen that nobody described has stood there for too long, or so long in another form that it is read again.
std::optional<SteadyTime> ScreenWatcher::strange_at() const {
  if (!strange_since_ || (strange_ && drawn_at_ <= strange_read_at_)) return std::nullopt;
  const auto still = std::max(drawn_at_, *strange_since_) + kStrange;
  return strange_ ? still : std::min(still, *strange_since_ + kStrangeAtMost);
}

/// When a composer has stood there so long that the program counts as started.
std::optional<SteadyTime> ScreenWatcher::started_at() const {
  if (ready_ || !composer_since_) return std::nullopt;
  return *composer_since_ + kStart;
}

/// A program may draw its composer before it takes prompts.
void ScreenWatcher::notice_start(const ScreenFrame& sight, StateEstimate& verdict, SteadyTime now) {
  if (ready_ || !picture_.composer) return;
  if (!composer_since_) composer_since_ = now;
  ready_ = verdict.state == State::Working || now >= *composer_since_ + kStart || eyes_.is_ready(sight);
  if (!ready_ && verdict.state == State::Idle) StateClassifier::not_ready(verdict);
}

/// It may be drawn anew, or the program may be ending: what was seen last counts until that is certain.
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

/// Before its first composer an agent shows what must be answered first; later a menu or a dialog stands in place of the composer.
void ScreenWatcher::notice_strangeness(const ScreenFrame& sight, StateEstimate& verdict, SteadyTime now) {
  const auto& findings = picture_.findings;
  const bool unread = verdict.state == State::Blocked && !findings.permission && !findings.question;
  const bool nothing_known = verdict.state == State::Unknown && !judge_.was_ready();
  if ((!unread && !nothing_known) || !eyes_.has_composer() || is_blank(sight)) {
    strange_since_.reset();
    strange_.reset();
    return;
  }
  if (!strange_since_) strange_since_ = now;
  if (const auto due = strange_at(); due && now >= *due) {
    strange_ = question_about(sight, kNotUnderstood);
    strange_read_at_ = now;
  }
  if (!strange_) return;
  if (!judge_.was_ready()) StateClassifier::not_understood(verdict);
  picture_.findings.question = strange_;
}

std::vector<Observation> ScreenWatcher::finish() {
  std::vector<Observation> out;
  if (turn_open_ && rested_) hear_turn(out);
  return out;
}

std::vector<Observation> ScreenWatcher::update(const terminal::Screen& screen, SteadyTime now) {
  std::vector<Observation> out;
  // What was quiet until now had its time, even if it changes with this very look.
  if (const auto due = settled_at(); due && now >= *due) hear_turn(out);
  if (const auto due = silent_at(); due && now >= *due) {
    StateClassifier::mark_silent(verdict_);
    picture_.findings.question = question_about(read_frame(screen), kSilentWithoutPrompt);
    out.emplace_back(StateChanged{verdict_});
  }
  if (!half_drawn(screen.modes(), eyes_.profile().composer.line_mode))
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
  const ScreenFrame sight = read_frame(screen);
  auto picture = eyes_.analyze(sight);
  auto verdict = judge_.classify(sight, picture);
  if (has_just_vanished(verdict, now)) {
    frame_ends_ = *vanished_since_ + kVanished;
    return out;
  }
  seen_ = std::move(glance);
  picture_ = std::move(picture);
  notice_strangeness(sight, verdict, now);
  notice_start(sight, verdict, now);
  if (verdict.state == State::Working && !turn_open_) {
    turn_open_ = true;
    limits_.clear();
    usage_.clear();
  }
  if (verdict.state == State::Working || is_at_rest(verdict.state)) rested_ = is_at_rest(verdict.state);
  // A dialog hides or moves the conversation; what stands under it is seen again when it closes.
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
      if (told.size() >= kMaxTold) told.clear();
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
    rows.push_back({});  // a paragraph ends here, whoever spoke
  }
  for (auto& utterance : commands::extract_from_screen(rows, grammar_)) {
    std::visit([&](auto& said) { said.location.line += rows_heard_; }, utterance);
    out.emplace_back(CommandSeen{std::move(utterance)});
  }
  rows_heard_ += rows.size();
}

}  // namespace relay::profiles
