#include "host/prompts/prompt_tracker.h"

#include <algorithm>
#include <iterator>

#include "activity/activity.h"
#include "activity/tools.h"
#include "base/format.h"
#include "base/json.h"
#include "host/prompts/prompt_events.h"
#include "protocol/send.h"

namespace relay::host {
namespace {

using adapters::PromptAnswer;
using adapters::PromptKind;
using events::Resolution;
using profiles::State;

constexpr std::string_view kHuman = "human";
constexpr std::string_view kNobody = "nobody";
constexpr std::string_view kUnknownOutcome = "answered on the agent's own screen; the answer is unknown";
constexpr std::string_view kContinued = "answered on the agent's own screen; the call continued";
constexpr std::size_t kMaxCalls = 256;

/// Written only when false.
std::optional<bool> unless_true(bool can) { return can ? std::nullopt : std::optional{false}; }

}  // namespace

std::string PromptTracker::request_of(std::string_view prompt) const {
  const auto found = std::ranges::find(open_, prompt, &Open::prompt);
  return found != open_.end() ? found->request : format("{}-{}", host_, prompt);
}

std::string_view PromptTracker::prompt_of(std::string_view request) const {
  const auto found = std::ranges::find(open_, request, &Open::request);
  return found != open_.end() ? std::string_view{found->prompt} : request;
}

PromptTracker::Opens::const_iterator PromptTracker::find(std::string_view request) const {
  return std::ranges::find_if(open_, [&](const Open& each) {
    return each.request == request || (!each.prompt.empty() && each.prompt == request) ||
           each.request == format("{}-{}", host_, request);
  });
}

PromptTracker::Opens::iterator PromptTracker::find(std::string_view request) {
  return open_.begin() + (std::as_const(*this).find(request) - open_.cbegin());
}

bool PromptTracker::on_screen_alone(std::string_view request) const {
  const auto found = find(request);
  return found != open_.end() && (found->surface == PromptSurface::Leaving || found->surface == PromptSurface::Screen);
}

PromptTracker::Events PromptTracker::on_screen_alone() const {
  Events out;
  for (const auto& each : open_)
    if (each.surface == PromptSurface::Leaving || each.surface == PromptSurface::Screen) out.push_back(each.event);
  return out;
}

bool PromptTracker::is_open(std::string_view request) const { return find(request) != open_.end(); }

Result<void> PromptTracker::check_keys(std::string_view request, const profiles::ScreenFindings& findings,
                                       Events& out) {
  const auto found = find(request);
  if (found == open_.end() || found->surface == PromptSurface::Closing)
    return fail(protocol::NackCode::Stale,
                "that prompt is no longer open; see `agent-relay permissions` and `agent-relay questions`");
  if (found->surface != PromptSurface::Screen || !can_answer(found->event).value_or(true))
    return fail(protocol::NackCode::Unsupported,
                "that prompt is only on the agent's screen; answer it there: `agent-relay attach`");
  const auto dialog = dialog_in(findings);
  if (!dialog || dialog->subject != found->dialog)
    return fail(
        protocol::NackCode::Stale,
        "that prompt is no longer on the agent's screen; see `agent-relay permissions` and `agent-relay questions`");
  const bool is_screen_only = found->prompt.empty();
  const bool is_certain = can_press(*dialog, press_) && (is_screen_only || has_subject(*dialog, found->subject));
  if (is_certain && dialog->full_text == found->full_text) return {};
  found->full_text = dialog->full_text;
  if (is_screen_only) found->event = screen_request(findings, found->request);
  can_answer(found->event) = unless_true(is_certain);
  out.push_back(found->event);
  return fail(protocol::NackCode::Stale,
              "the dialog has changed since it was reported; see it again with: `agent-relay permissions`");
}

void PromptTracker::press(std::string_view request, AnswerRecord answered) {
  const auto found = find(request);
  if (found != open_.end()) found->pressed = std::move(answered);
}

PromptTracker::Events PromptTracker::on_answer_accepted(std::string_view request, WallMs now) {
  Events out;
  const auto found = find(request);
  if (found == open_.end() || found->surface != PromptSurface::Screen || !found->pressed) return out;
  const auto answered = *found->pressed;
  resolve(out, found, answered, now);
  return out;
}

PromptTracker::Events PromptTracker::abandon(std::string_view request) {
  const auto found = find(request);
  if (found == open_.end() || found->surface != PromptSurface::Screen) return {};
  found->pressed.reset();
  found->abandoned = true;
  can_answer(found->event) = false;
  return {found->event};
}

PromptTracker::Opens::iterator PromptTracker::on_screen() {
  return std::ranges::find(open_, PromptSurface::Screen, &Open::surface);
}

PromptTracker::Events PromptTracker::on_prompt(const adapters::Prompt& prompt) {
  dialog_.reset();
  // A late or reopened native prompt: its dialog was already reported if both have the same subject.
  const auto subject = subject_of(prompt);
  if (const auto seen = on_screen(); seen != open_.end() && !subject.empty() && is_about(*seen, prompt, subject)) {
    auto requested = native_request(prompt, seen->request);
    if (requested.index() == seen->event.index()) {
      *seen = {prompt.id, seen->request, requested};
      seen->subject = subject;
      return {std::move(requested)};
    }
  }
  auto request = format("{}-{}", host_, prompt.id);
  open_.push_back({prompt.id, request, native_request(prompt, request)});
  open_.back().subject = subject;
  return {open_.back().event};
}

/// A request that is only on the screen is compared by its dialog; one whose native prompt has closed, by its call.
bool PromptTracker::is_about(const Open& open, const adapters::Prompt& prompt, const std::string& subject) {
  if (open.prompt.empty()) return has_subject({.body = open.body}, subject);
  const auto* requested = std::get_if<events::PermissionRequested>(&open.event);
  return requested != nullptr && requested->tool == prompt.tool && open.subject == subject;
}

PromptTracker::Events PromptTracker::on_closed(const std::string& prompt, const adapters::PromptOutcome& end,
                                               const std::optional<AnswerRecord>& answered, Timestamp now) {
  Events out;
  const auto found = std::ranges::find(open_, prompt, &Open::prompt);
  if (found == open_.end() || prompt.empty()) return out;
  if (end.still_on_screen) {
    found->surface = PromptSurface::Leaving;
    can_answer(found->event) = false;
    return {found->event};
  }
  if (answered && end.by != "user") {
    resolve(out, found, *answered, now.wall);
  } else if (end.decision) {
    resolve(out, found, resolution_of(*end.decision), kHuman, {}, std::nullopt, now.wall);
  } else if (end.by == "user") {
    close(out, found, now);
  } else {
    resolve(out, found, Resolution::Withdrawn, kNobody, end.by, std::nullopt, now.wall);
  }
  return out;
}

void PromptTracker::close(Events& out, Opens::iterator open, Timestamp now) {
  if (const auto pressed = std::exchange(open->pressed, std::nullopt)) return resolve(out, open, *pressed, now.wall);
  const bool question = std::holds_alternative<events::QuestionRequested>(open->event);
  if (question || open->shown)
    return resolve(out, open, open->shown.value_or(Resolution::Withdrawn), kHuman, {}, std::nullopt, now.wall);
  open->surface = PromptSurface::Closing;
  open->until = now.steady + kOutcomeTimeout;
}

/// A request is resolved by its own call: the same tool on the same subject, or, without such a call, the same tool.
bool PromptTracker::concerns(const Open& open, const Call& ended) const {
  const auto* requested = std::get_if<events::PermissionRequested>(&open.event);
  if (requested == nullptr) return false;
  const auto own = [&](const Call& call) { return call.tool == requested->tool && call.subject == open.subject; };
  if (own(ended)) return true;
  if (std::ranges::any_of(calls_, [&](const auto& call) { return own(call.second); })) return false;
  return ended.tool == requested->tool ||
         std::ranges::none_of(calls_, [&](const auto& call) { return call.second.tool == requested->tool; });
}

PromptTracker::Call PromptTracker::call_in(const json::object& metadata) {
  auto tool = string_member(metadata, "tool").value_or("");
  const auto* input = metadata.if_contains("input");
  auto subject = input != nullptr ? activity::subject_of(activity::kind_of(tool), json::serialize(*input)) : "";
  return {std::move(tool), std::move(subject)};
}

/// A denied call ends at once, so a running one was approved. The host reads no transcript of subagents.
bool PromptTracker::is_running(const Open& open) const {
  const auto* requested = std::get_if<events::PermissionRequested>(&open.event);
  return requested != nullptr &&
         std::ranges::any_of(calls_, [&](const auto& call) { return call.second.tool == requested->tool; });
}

PromptTracker::Events PromptTracker::on_event(const events::Event& event, WallMs now) {
  Events out;
  if (const auto* started = std::get_if<events::ItemStarted>(&event)) {
    if (started->metadata && calls_.size() < kMaxCalls) calls_[started->item_id] = call_in(*started->metadata);
  } else if (std::holds_alternative<events::CommandExecuted>(event) ||
             std::holds_alternative<events::FileOperation>(event)) {
    has_effect_ = true;
  }
  const auto* completed = std::get_if<events::ItemCompleted>(&event);
  const auto call = completed == nullptr ? calls_.end() : calls_.find(completed->item_id);
  if (call == calls_.end()) return out;
  const auto ended = std::move(call->second);
  calls_.erase(call);
  const auto none = json::object{};
  const auto& result = completed->result ? *completed->result : none;
  const bool failed = bool_member(result, "failed").value_or(false);
  // A call that ended for another reason than its result is not evidence.
  if (const auto reason = string_member(result, "reason"); reason && *reason != activity::kInterrupted) return out;
  const auto shown = std::exchange(has_effect_, false) || !failed ? Resolution::Approved : Resolution::Denied;
  for (auto each = open_.begin(); each != open_.end();) {
    if (!concerns(*each, ended)) {
      ++each;
    } else if (each->surface == PromptSurface::Closing) {
      resolve(out, each, shown, kHuman, {}, std::nullopt, now);
      each = open_.begin();
    } else {
      (each++)->shown = shown;
    }
  }
  return out;
}

PromptTracker::Events PromptTracker::update(State state, const profiles::ScreenFindings& findings, Timestamp now,
                                            Millis native_prompt_delay) {
  Events out;
  if (state == State::Unknown) {  // only timeouts apply
    dialog_.reset();
    for (auto each = open_.begin(); each != open_.end();) {
      each->other.reset();
      if (each->surface == PromptSurface::Screen && each->prompt.empty()) {
        if (!each->unseen_since) each->unseen_since = now.steady;
        if (now.steady >= *each->unseen_since + kUnknownScreenTimeout) {
          each->unseen_since.reset();
          close(out, each, now);
          each = open_.begin();
          continue;
        }
      }
      if (each->surface != PromptSurface::Closing || now.steady < each->until) {
        ++each;
        continue;
      }
      resolve(out, each, Resolution::Withdrawn, kHuman, kUnknownOutcome, std::nullopt, now.wall);
      each = open_.begin();
    }
    return out;
  }
  const bool blocked = state == State::Blocked;
  const auto dialog = blocked ? dialog_in(findings) : std::nullopt;
  for (auto each = open_.begin(); each != open_.end();) {
    each->unseen_since.reset();
    if (each->surface == PromptSurface::Leaving && blocked) each->surface = PromptSurface::Screen;
    const bool other_dialog =
        each->surface == PromptSurface::Screen && blocked && has_other_dialog(*each, dialog, now.steady);
    const bool has_closed = each->surface == PromptSurface::Screen
                                ? !blocked || (other_dialog && !each->dialog.empty())
                                : each->surface == PromptSurface::Leaving && state == State::Idle;
    if (has_closed) {
      if (each->other) dialog_ = *std::exchange(each->other, std::nullopt);
      const auto before = open_.size();
      close(out, each, now);
      if (open_.size() < before) each = open_.begin();
      continue;
    }
    if (each->surface == PromptSurface::Closing && now.steady >= each->until) {
      const bool continues = state == State::Working && is_running(*each);
      resolve(out, each, continues ? Resolution::Approved : Resolution::Withdrawn, kHuman,
              continues ? kContinued : kUnknownOutcome, std::nullopt, now.wall);
      each = open_.begin();
      continue;
    }
    if (other_dialog) {  // the native prompt has closed, and a dialog is on the screen
      each->other.reset();
      each->dialog = dialog->subject;
      each->body = dialog->body;
    }
    if (each->surface == PromptSurface::Screen && dialog && dialog->subject == each->dialog) {
      allow_keys(out, *each, findings, *dialog);
      report_change(out, *each, findings, *dialog);
    }
    ++each;
  }
  const bool is_unclaimed =
      dialog && std::ranges::all_of(open_, [](const Open& each) { return each.surface == PromptSurface::Closing; });
  if (!is_unclaimed)
    dialog_.reset();
  else if (!dialog_ || dialog_->subject != dialog->subject)
    dialog_ = DialogSighting{dialog->subject, now.steady};
  native_prompt_delay_ = findings.of_setup ? kRedrawTime : native_prompt_delay;  // setup dialogs have no native prompt
  if (!dialog_ || now.steady < dialog_->since + native_prompt_delay_) return out;
  dialog_.reset();
  auto request = format("{}-s{}", host_, ++last_);
  open_.push_back(
      {"", request, screen_request(findings, request), PromptSurface::Screen, dialog->subject, dialog->full_text});
  open_.back().body = dialog->body;
  can_answer(open_.back().event) = unless_true(can_press(*dialog, press_));
  out.push_back(open_.back().event);
  return out;
}

/// Another dialog has been on the screen for too long to be a redraw of this one.
bool PromptTracker::has_other_dialog(Open& open, const std::optional<Dialog>& dialog, SteadyTime now) {
  const bool other = dialog && dialog->subject != open.dialog;
  if (!other)
    open.other.reset();
  else if (!open.other || open.other->subject != dialog->subject)
    open.other = DialogSighting{dialog->subject, now};
  return other && now >= open.other->since + kRedrawTime;
}

/// Keys may answer a dialog that certainly belongs to the request.
void PromptTracker::allow_keys(Events& out, Open& open, const profiles::ScreenFindings& findings,
                               const Dialog& dialog) {
  if (open.abandoned || can_answer(open.event).value_or(true) || !can_press(dialog, press_)) return;
  const auto unanswered = [](const Open& each) { return each.surface != PromptSurface::Closing; };
  if (!open.prompt.empty() && (std::ranges::count_if(open_, unanswered) != 1 || !has_subject(dialog, open.subject)))
    return;
  open.full_text = dialog.full_text;
  if (open.prompt.empty()) open.event = screen_request(findings, open.request);  // it may have been reported half drawn
  can_answer(open.event).reset();
  out.push_back(open.event);
}

/// An unknown screen counts as the same dialog whatever it shows, and is reported again when it changes.
void PromptTracker::report_change(Events& out, Open& open, const profiles::ScreenFindings& findings,
                                  const Dialog& dialog) {
  const bool unknown = findings.question && findings.question->pattern == profiles::kUnknownScreen;
  if (!unknown || !open.prompt.empty() || dialog.full_text == open.full_text) return;
  open.full_text = dialog.full_text;
  open.event = screen_request(findings, open.request);
  can_answer(open.event) = false;
  out.push_back(open.event);
}

std::optional<SteadyTime> PromptTracker::due() const {
  std::optional<SteadyTime> due;
  const auto at = [&](SteadyTime when) { due = due ? std::min(*due, when) : when; };
  if (dialog_) at(dialog_->since + native_prompt_delay_);
  for (const auto& each : open_) {
    if (each.surface == PromptSurface::Closing) at(each.until);
    if (each.unseen_since) at(*each.unseen_since + kUnknownScreenTimeout);
    if (each.surface == PromptSurface::Screen && each.other) at(each.other->since + kRedrawTime);
  }
  return due;
}

PromptTracker::Events PromptTracker::on_agent_exit(WallMs now) {
  Events out;
  while (!open_.empty())
    resolve(out, open_.begin(), Resolution::Withdrawn, kNobody, "the agent has ended", std::nullopt, now);
  return out;
}

PromptTracker::Events PromptTracker::open() const {
  Events out;
  for (const auto& each : open_) out.push_back(each.event);
  return out;
}

PromptTracker::Events PromptTracker::unanswered() const {
  Events out;
  for (const auto& each : open_)
    if (each.surface != PromptSurface::Closing) out.push_back(each.event);
  return out;
}

void PromptTracker::resolve(Events& out, Opens::iterator open, const AnswerRecord& answered, WallMs now) {
  std::string answers;
  for (const auto& answer : answered.reply.answers) answers += (answers.empty() ? "" : "\n") + answer;
  resolve(out, open, answered.timed_out ? Resolution::Timeout : resolution_of(answered.reply.decision), answered.by,
          answered.reply.message, unless_empty(answers), now);
}

void PromptTracker::resolve(Events& out, Opens::iterator open, Resolution how, std::string_view by,
                            std::string_view reason, std::optional<std::string> answer, WallMs now) {
  const auto closed = std::move(*open);
  open_.erase(open);
  const auto resolved_by = truncated(by, kMaxNameBytes);
  if (std::holds_alternative<events::PermissionRequested>(closed.event))
    out.emplace_back(events::PermissionResolved{.request_id = closed.request,
                                                .resolution = how,
                                                .resolved_by = resolved_by,
                                                .resolved_at = now,
                                                .reason = unless_empty(truncated(reason, kMaxPathBytes))});
  else
    out.emplace_back(events::QuestionResolved{
        .question_id = closed.request, .answer = std::move(answer), .resolved_by = resolved_by});
}

}  // namespace relay::host
