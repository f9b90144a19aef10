#include "host/prompts/prompt_tracker.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "activity/activity.h"
#include "activity/patch.h"
#include "activity/tools.h"
#include "base/format.h"
#include "base/json.h"
#include "protocol/send.h"
#include "text/utf8.h"

namespace relay::host {
namespace {

using adapters::PromptAnswer;
using adapters::PromptKind;
using events::Resolution;
using profiles::State;

constexpr std::string_view kHuman = "human";
constexpr std::string_view kNobody = "nobody";
constexpr std::string_view kUnknownOutcome = "answered at the agent's own screen, which does not tell how";
constexpr std::string_view kWentOn = "answered at the agent's own screen; it went on";
constexpr std::size_t kMaxTextBytes = 16 * 1024;
constexpr std::size_t kMaxPathBytes = 4096;
constexpr std::size_t kMaxWordBytes = 256;
constexpr std::size_t kMaxOptions = 64;
constexpr std::size_t kMaxCalls = 256;

std::string cut(std::string_view text, std::size_t limit) { return std::string{text::truncate_utf8(text, limit)}; }

std::optional<std::string> unless_empty(std::string text) {
  if (text.empty()) return std::nullopt;
  return text;
}

events::Event permission_in(const adapters::Prompt& prompt, std::string request) {
  const auto& kind = activity::kind_of(prompt.tool);
  events::PermissionRequested requested{.request_id = std::move(request),
                                        .tool = cut(prompt.tool, kMaxWordBytes),
                                        .description = cut(prompt.summary, kMaxTextBytes)};
  requested.directory = unless_empty(cut(prompt.directory, kMaxPathBytes));
  if (prompt.partial || prompt.directory.size() > kMaxPathBytes) requested.partial = true;
  const auto input = parse_json_object(prompt.input);
  const auto member = [&](std::string_view name) { return input ? string_member(*input, name).value_or("") : ""; };
  if (kind.use == activity::ToolCategory::Patch) {
    // The first of several files would say too little; the target of a move, or a header that another reader takes for
    // a path, cannot be reported: no rule decides it.
    const auto files = activity::files_in_patch(member("command"));
    if (files.size() == 1) requested.file_path = unless_empty(cut(files.front().path, kMaxPathBytes));
    requested.partial = true;
    return requested;
  }
  // A hook may name its tools otherwise than the transcript; the input still names the subject.
  auto command = kind.use == activity::ToolCategory::Shell || kind.use == activity::ToolCategory::Script
                     ? activity::subject_of(kind, prompt.input)
                     : std::string{};
  if (command.empty()) command = member("command");
  requested.command = unless_empty(cut(command, kMaxTextBytes));
  if (command.size() > kMaxTextBytes) requested.partial = true;
  for (const auto* name : {"file_path", "filePath", "filepath", "notebook_path", "path"})
    if (!requested.file_path) {
      const auto path = member(name);
      requested.file_path = unless_empty(cut(path, kMaxPathBytes));
      if (path.size() > kMaxPathBytes) requested.partial = true;
    }
  // The files a search reads, besides its directory, are not part of the event, so rules must not decide it.
  for (const auto* name :
       {"glob", "globs", "include", "include_pattern", "include_patterns", "includes", "paths", "files"})
    if (input && input->contains(name)) requested.partial = true;
  return requested;
}

events::Event question_in(const adapters::Prompt& prompt, std::string request) {
  events::QuestionRequested requested{.question_id = std::move(request)};
  for (const auto& question : prompt.questions)
    requested.question += (requested.question.empty() ? "" : "\n") + question.text;
  requested.question = cut(requested.question.empty() ? prompt.summary : requested.question, kMaxTextBytes);
  if (prompt.questions.size() == 1 && !prompt.questions.front().choices.empty()) {
    const auto& choices = prompt.questions.front().choices;
    const auto shown = std::min(choices.size(), kMaxOptions);
    requested.options.emplace(choices.begin(), choices.begin() + static_cast<std::ptrdiff_t>(shown));
  }
  return requested;
}

std::optional<bool>& can_answer(events::Event& event) {
  auto* permission = std::get_if<events::PermissionRequested>(&event);
  return permission != nullptr ? permission->can_answer : std::get<events::QuestionRequested>(event).can_answer;
}

/// Written only when false.
std::optional<bool> unless_true(bool can) { return can ? std::nullopt : std::optional{false}; }

/// Below the head of a dialog about a file is a sentence of the program, no command: `WriteFile`, `Edit`.
bool changes_files(std::string_view tool) {
  std::string word;
  std::ranges::transform(tool, std::back_inserter(word), [](unsigned char c) { return std::tolower(c); });
  return word.find("write") != std::string::npos || word.find("edit") != std::string::npos;
}

/// A screen shows only what fits on it, so no rule decides by it.
events::Event shown_in(const profiles::ScreenFindings& findings, std::string request) {
  if (const auto& permission = findings.permission) {
    const auto what = permission->command.empty() ? permission->tool : permission->command;
    return events::PermissionRequested{
        .request_id = std::move(request),
        .tool = cut(permission->tool, kMaxWordBytes),
        .command =
            changes_files(permission->tool) ? std::nullopt : unless_empty(cut(permission->command, kMaxTextBytes)),
        .description = cut(permission->body.empty() ? what : said_once(permission->body), kMaxTextBytes),
        .partial = true};
  }
  const auto& seen = *findings.question;
  const bool unknown = seen.pattern == profiles::kUnknownScreen;
  events::QuestionRequested requested{
      .question_id = std::move(request),
      .question = cut(unknown ? format("{}:\n{}", seen.text, seen.body) : seen.text, kMaxTextBytes)};
  std::vector<std::string> options;
  for (const auto& choice : findings.question->choices)
    if (options.size() < kMaxOptions) options.push_back(choice.label);
  if (!options.empty()) requested.options = std::move(options);
  return requested;
}

Resolution resolution_of(PromptAnswer::Decision verdict) {
  return verdict == PromptAnswer::Decision::Allow ? Resolution::Approved : Resolution::Denied;
}

/// What a tool works on: its command, its file.
std::string subject_in(const adapters::Prompt& prompt) {
  return activity::subject_of(activity::kind_of(prompt.tool), prompt.input);
}

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

Result<void> PromptTracker::check_keys(std::string_view request, const profiles::ScreenFindings& seen, Events& event) {
  const auto found = find(request);
  if (found == open_.end() || found->surface == PromptSurface::Closing)
    return fail(protocol::NackCode::Stale,
                "that is not asked any more; see `agent-relay permissions` and `agent-relay questions`");
  if (found->surface != PromptSurface::Screen || !can_answer(found->event).value_or(true))
    return fail(protocol::NackCode::Unsupported,
                "that is asked on the agent's screen alone; answer it there: `agent-relay attach`");
  const auto dialog = dialog_in(seen);
  if (!dialog || dialog->about != found->dialog)
    return fail(
        protocol::NackCode::Stale,
        "that is not on the agent's screen any more; see `agent-relay permissions` and `agent-relay questions`");
  const bool known_by_screen = found->prompt.empty();
  const bool sure = can_press(*dialog, press_) && (known_by_screen || shows(*dialog, found->subject));
  if (sure && dialog->whole == found->whole) return {};
  found->whole = dialog->whole;
  if (known_by_screen) found->event = shown_in(seen, found->request);
  can_answer(found->event) = unless_true(sure);
  event.push_back(found->event);
  return fail(protocol::NackCode::Stale,
              "the dialog says something else now than when it was told; look again: `agent-relay permissions`");
}

void PromptTracker::press(std::string_view request, AnswerRecord answered) {
  const auto found = find(request);
  if (found != open_.end()) found->pressed = std::move(answered);
}

PromptTracker::Events PromptTracker::taken(std::string_view request, WallMs now) {
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
  const auto event = [&](std::string request) {
    return prompt.kind == PromptKind::Permission ? permission_in(prompt, std::move(request))
                                                 : question_in(prompt, std::move(request));
  };
  // The native prompt is late, or opened again: its dialog was reported already, if it is about the same.
  const auto subject = subject_in(prompt);
  if (const auto seen = on_screen(); seen != open_.end() && !subject.empty() && is_about(*seen, prompt, subject)) {
    auto known = event(seen->request);
    if (known.index() == seen->event.index()) {
      *seen = {prompt.id, seen->request, known};
      seen->subject = subject;
      return {std::move(known)};
    }
  }
  auto request = format("{}-{}", host_, prompt.id);
  open_.push_back({prompt.id, request, event(request)});
  open_.back().subject = subject;
  return {open_.back().event};
}

/// A request of the screen alone is compared by its dialog; one whose native prompt has closed, by its call.
bool PromptTracker::is_about(const Open& open, const adapters::Prompt& prompt, const std::string& subject) {
  if (open.prompt.empty()) return shows({.body = open.body}, subject);
  const auto* requested = std::get_if<events::PermissionRequested>(&open.event);
  return requested != nullptr && requested->tool == prompt.tool && open.subject == subject;
}

PromptTracker::Events PromptTracker::on_closed(const std::string& prompt, const adapters::PromptOutcome& end,
                                               const std::optional<AnswerRecord>& answered, Timestamp now) {
  Events out;
  const auto found = std::ranges::find(open_, prompt, &Open::prompt);
  if (found == open_.end() || prompt.empty()) return out;
  if (end.still_asked) {
    found->surface = PromptSurface::Leaving;
    can_answer(found->event) = false;
    return {found->event};
  }
  if (answered && end.by != "user") {
    resolve(out, found, *answered, now.wall);
  } else if (end.verdict) {
    resolve(out, found, resolution_of(*end.verdict), kHuman, {}, std::nullopt, now.wall);
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

/// Another call says nothing about this request while its own is running: the same tool on the same subject, or, if no
/// such call is known, the same tool.
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

/// A denied call ends at once, so one that continues was approved. Calls of subagents are in no transcript the host
/// reads.
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
  // A call that ended for another reason than its result shows nothing.
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
                                            Millis settle) {
  Events out;
  if (state == State::Unknown) {  // it shows nothing, but time passes
    dialog_.reset();
    for (auto each = open_.begin(); each != open_.end();) {
      each->other.reset();
      if (each->surface == PromptSurface::Screen && each->prompt.empty()) {
        if (!each->unseen_since) each->unseen_since = now.steady;
        if (now.steady >= *each->unseen_since + kUnseen) {
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
    const bool settled = each->surface == PromptSurface::Screen && blocked && has_settled(*each, dialog, now.steady);
    const bool over = each->surface == PromptSurface::Screen
                          ? !blocked || (settled && !each->dialog.empty())
                          : each->surface == PromptSurface::Leaving && state == State::Idle;
    if (over) {
      if (each->other) dialog_ = *std::exchange(each->other, std::nullopt);
      const auto before = open_.size();
      close(out, each, now);
      if (open_.size() < before) each = open_.begin();
      continue;
    }
    if (each->surface == PromptSurface::Closing && now.steady >= each->until) {
      const bool goes_on = state == State::Working && is_running(*each);
      resolve(out, each, goes_on ? Resolution::Approved : Resolution::Withdrawn, kHuman,
              goes_on ? kWentOn : kUnknownOutcome, std::nullopt, now.wall);
      each = open_.begin();
      continue;
    }
    if (settled) {  // its native prompt has closed, and a dialog is on the screen
      each->other.reset();
      each->dialog = dialog->about;
      each->body = dialog->body;
    }
    if (each->surface == PromptSurface::Screen && dialog && dialog->about == each->dialog) {
      allow_keys(out, *each, findings, *dialog);
      report_change(out, *each, findings, *dialog);
    }
    ++each;
  }
  const bool nobodys =
      dialog && std::ranges::all_of(open_, [](const Open& each) { return each.surface == PromptSurface::Closing; });
  if (!nobodys)
    dialog_.reset();
  else if (!dialog_ || dialog_->about != dialog->about)
    dialog_ = DialogSighting{dialog->about, now.steady};
  settle_ = findings.of_setup ? kRedrawTime : settle;  // setup dialogs have no native prompt
  if (!dialog_ || now.steady < dialog_->since + settle_) return out;
  dialog_.reset();
  auto request = format("{}-s{}", host_, ++last_);
  open_.push_back({"", request, shown_in(findings, request), PromptSurface::Screen, dialog->about, dialog->whole});
  open_.back().body = dialog->body;
  can_answer(open_.back().event) = unless_true(can_press(*dialog, press_));
  out.push_back(open_.back().event);
  return out;
}

/// Another dialog has been on the screen for too long to be this one half drawn.
bool PromptTracker::has_settled(Open& open, const std::optional<Dialog>& dialog, SteadyTime now) {
  const bool other = dialog && dialog->about != open.dialog;
  if (!other)
    open.other.reset();
  else if (!open.other || open.other->about != dialog->about)
    open.other = DialogSighting{dialog->about, now};
  return other && now >= open.other->since + kRedrawTime;
}

/// Once the dialog is certain to be that of the request, keys may answer it.
void PromptTracker::allow_keys(Events& out, Open& open, const profiles::ScreenFindings& seen, const Dialog& dialog) {
  if (open.abandoned || can_answer(open.event).value_or(true) || !can_press(dialog, press_)) return;
  const auto unanswered = [](const Open& each) { return each.surface != PromptSurface::Closing; };
  if (!open.prompt.empty() && (std::ranges::count_if(open_, unanswered) != 1 || !shows(dialog, open.subject))) return;
  open.whole = dialog.whole;
  if (open.prompt.empty())
    open.event = shown_in(seen, open.request);  // it may have been half drawn when it was reported
  can_answer(open.event).reset();
  out.push_back(open.event);
}

/// A screen that no profile describes counts as the same dialog whatever it shows, and is reported as it is now.
void PromptTracker::report_change(Events& out, Open& open, const profiles::ScreenFindings& seen, const Dialog& dialog) {
  const bool unknown = seen.question && seen.question->pattern == profiles::kUnknownScreen;
  if (!unknown || !open.prompt.empty() || dialog.whole == open.whole) return;
  open.whole = dialog.whole;
  open.event = shown_in(seen, open.request);
  can_answer(open.event) = false;
  out.push_back(open.event);
}

std::optional<SteadyTime> PromptTracker::due() const {
  std::optional<SteadyTime> due;
  const auto at = [&](SteadyTime when) { due = due ? std::min(*due, when) : when; };
  if (dialog_) at(dialog_->since + settle_);
  for (const auto& each : open_) {
    if (each.surface == PromptSurface::Closing) at(each.until);
    if (each.unseen_since) at(*each.unseen_since + kUnseen);
    if (each.surface == PromptSurface::Screen && each.other) at(each.other->since + kRedrawTime);
  }
  return due;
}

PromptTracker::Events PromptTracker::end(WallMs now) {
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
  std::string said;
  for (const auto& answer : answered.reply.answers) said += (said.empty() ? "" : "\n") + answer;
  resolve(out, open, answered.timed_out ? Resolution::Timeout : resolution_of(answered.reply.verdict), answered.by,
          answered.reply.message, unless_empty(said), now);
}

void PromptTracker::resolve(Events& out, Opens::iterator open, Resolution how, std::string_view by,
                            std::string_view reason, std::optional<std::string> answer, WallMs now) {
  const auto gone = std::move(*open);
  open_.erase(open);
  const auto who = cut(by, kMaxWordBytes);
  if (std::holds_alternative<events::PermissionRequested>(gone.event))
    out.emplace_back(events::PermissionResolved{.request_id = gone.request,
                                                .resolution = how,
                                                .resolved_by = who,
                                                .resolved_at = now,
                                                .reason = unless_empty(cut(reason, kMaxPathBytes))});
  else
    out.emplace_back(
        events::QuestionResolved{.question_id = gone.request, .answer = std::move(answer), .resolved_by = who});
}

}  // namespace relay::host
