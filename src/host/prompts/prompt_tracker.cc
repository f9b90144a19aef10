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
constexpr std::string_view kUntold = "answered at the agent's own screen, which does not tell how";
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
  events::PermissionRequested asked{.request_id = std::move(request),
                                    .tool = cut(prompt.tool, kMaxWordBytes),
                                    .description = cut(prompt.summary, kMaxTextBytes)};
  asked.directory = unless_empty(cut(prompt.directory, kMaxPathBytes));
  if (prompt.partial || prompt.directory.size() > kMaxPathBytes) asked.partial = true;
  const auto input = parse_json_object(prompt.input);
  const auto member = [&](std::string_view name) { return input ? string_member(*input, name).value_or("") : ""; };
  if (kind.use == activity::ToolCategory::Patch) {
    // Of several files the first would say too little; and where one is moved to, or a header that another reader takes for
    // one, is more than can be told: no rule decides it.
    const auto files = activity::files_in_patch(member("command"));
    if (files.size() == 1) asked.file_path = unless_empty(cut(files.front().path, kMaxPathBytes));
    asked.partial = true;
    return asked;
  }
  // Where a hook names its tools otherwise than the record does, the input still says on what.
  auto command = kind.use == activity::ToolCategory::Shell || kind.use == activity::ToolCategory::Script
                     ? activity::subject_of(kind, prompt.input)
                     : std::string{};
  if (command.empty()) command = member("command");
  asked.command = unless_empty(cut(command, kMaxTextBytes));
  if (command.size() > kMaxTextBytes) asked.partial = true;
  for (const auto* name : {"file_path", "filePath", "filepath", "notebook_path", "path"})
    if (!asked.file_path) {
      const auto path = member(name);
      asked.file_path = unless_empty(cut(path, kMaxPathBytes));
      if (path.size() > kMaxPathBytes) asked.partial = true;
    }
  // Which files a search looks at, besides where it begins, is told to nobody who judges.
  for (const auto* name :
       {"glob", "globs", "include", "include_pattern", "include_patterns", "includes", "paths", "files"})
    if (input && input->contains(name)) asked.partial = true;
  return asked;
}

events::Event question_in(const adapters::Prompt& prompt, std::string request) {
  events::QuestionRequested asked{.question_id = std::move(request)};
  for (const auto& question : prompt.questions) asked.question += (asked.question.empty() ? "" : "\n") + question.text;
  asked.question = cut(asked.question.empty() ? prompt.summary : asked.question, kMaxTextBytes);
  if (prompt.questions.size() == 1 && !prompt.questions.front().choices.empty()) {
    const auto& choices = prompt.questions.front().choices;
    const auto shown = std::min(choices.size(), kMaxOptions);
    asked.options.emplace(choices.begin(), choices.begin() + static_cast<std::ptrdiff_t>(shown));
  }
  return asked;
}

std::optional<bool>& can_answer(events::Event& told) {
  auto* permission = std::get_if<events::PermissionRequested>(&told);
  return permission != nullptr ? permission->can_answer : std::get<events::QuestionRequested>(told).can_answer;
}

/// Said only where it is not so.
std::optional<bool> unless_true(bool can) { return can ? std::nullopt : std::optional{false}; }

/// What stands under the head of a dialog about a file is a sentence of the program, no command: `WriteFile`, `Edit`.
bool changes_files(std::string_view tool) {
  std::string word;
  std::ranges::transform(tool, std::back_inserter(word), [](unsigned char c) { return std::tolower(c); });
  return word.find("write") != std::string::npos || word.find("edit") != std::string::npos;
}

/// A screen shows what fits on it: no rule decides by that.
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
  events::QuestionRequested asked{
      .question_id = std::move(request),
      .question = cut(unknown ? format("{}:\n{}", seen.text, seen.body) : seen.text, kMaxTextBytes)};
  std::vector<std::string> options;
  for (const auto& choice : findings.question->choices)
    if (options.size() < kMaxOptions) options.push_back(choice.label);
  if (!options.empty()) asked.options = std::move(options);
  return asked;
}

Resolution resolution_of(PromptAnswer::Decision verdict) {
  return verdict == PromptAnswer::Decision::Allow ? Resolution::Approved : Resolution::Denied;
}

/// On what a tool works: its command, its file.
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
  return found != open_.end() && (found->where == PromptSurface::Leaving || found->where == PromptSurface::OnScreen);
}

PromptTracker::Told PromptTracker::on_screen_alone() const {
  Told out;
  for (const auto& each : open_)
    if (each.where == PromptSurface::Leaving || each.where == PromptSurface::OnScreen) out.push_back(each.told);
  return out;
}

bool PromptTracker::is_open(std::string_view request) const { return find(request) != open_.end(); }

Result<void> PromptTracker::check_keys(std::string_view request, const profiles::ScreenFindings& seen, Told& told) {
  const auto found = find(request);
  if (found == open_.end() || found->where == PromptSurface::Closing)
    return fail(protocol::NackCode::Stale,
                "that is not asked any more; see `agent-relay permissions` and `agent-relay questions`");
  if (found->where != PromptSurface::OnScreen || !can_answer(found->told).value_or(true))
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
  if (known_by_screen) found->told = shown_in(seen, found->request);
  can_answer(found->told) = unless_true(sure);
  told.push_back(found->told);
  return fail(protocol::NackCode::Stale,
              "the dialog says something else now than when it was told; look again: `agent-relay permissions`");
}

void PromptTracker::press(std::string_view request, AnswerRecord answered) {
  const auto found = find(request);
  if (found != open_.end()) found->pressed = std::move(answered);
}

PromptTracker::Told PromptTracker::taken(std::string_view request, WallMs now) {
  Told out;
  const auto found = find(request);
  if (found == open_.end() || found->where != PromptSurface::OnScreen || !found->pressed) return out;
  const auto answered = *found->pressed;
  resolve(out, found, answered, now);
  return out;
}

PromptTracker::Told PromptTracker::abandon(std::string_view request) {
  const auto found = find(request);
  if (found == open_.end() || found->where != PromptSurface::OnScreen) return {};
  found->pressed.reset();
  found->left_alone = true;
  can_answer(found->told) = false;
  return {found->told};
}

PromptTracker::Opens::iterator PromptTracker::on_screen() {
  return std::ranges::find(open_, PromptSurface::OnScreen, &Open::where);
}

PromptTracker::Told PromptTracker::on_prompt(const adapters::Prompt& prompt) {
  dialog_.reset();
  const auto event = [&](std::string request) {
    return prompt.kind == PromptKind::Permission ? permission_in(prompt, std::move(request))
                                                 : question_in(prompt, std::move(request));
  };
  // The door opened late, or again: its dialog was told already, if it is about the same.
  const auto subject = subject_in(prompt);
  if (const auto seen = on_screen(); seen != open_.end() && !subject.empty() && is_about(*seen, prompt, subject)) {
    auto known = event(seen->request);
    if (known.index() == seen->told.index()) {
      *seen = {prompt.id, seen->request, known};
      seen->subject = subject;
      return {std::move(known)};
    }
  }
  auto request = format("{}-{}", host_, prompt.id);
  open_.push_back({prompt.id, request, event(request)});
  open_.back().subject = subject;
  return {open_.back().told};
}

/// Of one known by the screen alone its dialog says it; of one whose door had closed, its call.
bool PromptTracker::is_about(const Open& open, const adapters::Prompt& prompt, const std::string& subject) {
  if (open.prompt.empty()) return shows({.body = open.body}, subject);
  const auto* asked = std::get_if<events::PermissionRequested>(&open.told);
  return asked != nullptr && asked->tool == prompt.tool && open.subject == subject;
}

PromptTracker::Told PromptTracker::on_closed(const std::string& prompt, const adapters::PromptOutcome& end,
                                             const std::optional<AnswerRecord>& answered, Timestamp now) {
  Told out;
  const auto found = std::ranges::find(open_, prompt, &Open::prompt);
  if (found == open_.end() || prompt.empty()) return out;
  if (end.still_asked) {
    found->where = PromptSurface::Leaving;
    can_answer(found->told) = false;
    return {found->told};
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

void PromptTracker::close(Told& out, Opens::iterator open, Timestamp now) {
  if (const auto pressed = std::exchange(open->pressed, std::nullopt)) return resolve(out, open, *pressed, now.wall);
  const bool question = std::holds_alternative<events::QuestionRequested>(open->told);
  if (question || open->shown)
    return resolve(out, open, open->shown.value_or(Resolution::Withdrawn), kHuman, {}, std::nullopt, now.wall);
  open->where = PromptSurface::Closing;
  open->until = now.steady + kVerdict;
}

/// Another call says nothing of this one as long as its own is under way: the same tool on the same thing, or, where no
/// call is known to be that, the same tool.
bool PromptTracker::concerns(const Open& open, const Call& ended) const {
  const auto* asked = std::get_if<events::PermissionRequested>(&open.told);
  if (asked == nullptr) return false;
  const auto own = [&](const Call& call) { return call.tool == asked->tool && call.subject == open.subject; };
  if (own(ended)) return true;
  if (std::ranges::any_of(calls_, [&](const auto& call) { return own(call.second); })) return false;
  return ended.tool == asked->tool ||
         std::ranges::none_of(calls_, [&](const auto& call) { return call.second.tool == asked->tool; });
}

PromptTracker::Call PromptTracker::call_in(const json::object& metadata) {
  auto tool = string_member(metadata, "tool").value_or("");
  const auto* input = metadata.if_contains("input");
  auto subject = input != nullptr ? activity::subject_of(activity::kind_of(tool), json::serialize(*input)) : "";
  return {std::move(tool), std::move(subject)};
}

/// A call that was refused ends at once, so one that runs on was allowed. What a subagent calls is in no record of ours.
bool PromptTracker::is_under_way(const Open& open) const {
  const auto* asked = std::get_if<events::PermissionRequested>(&open.told);
  return asked != nullptr &&
         std::ranges::any_of(calls_, [&](const auto& call) { return call.second.tool == asked->tool; });
}

PromptTracker::Told PromptTracker::on_event(const events::Event& event, WallMs now) {
  Told out;
  if (const auto* started = std::get_if<events::ItemStarted>(&event)) {
    if (started->metadata && calls_.size() < kMaxCalls) calls_[started->item_id] = call_in(*started->metadata);
  } else if (std::holds_alternative<events::CommandExecuted>(event) ||
             std::holds_alternative<events::FileOperation>(event)) {
    deed_ = true;
  }
  const auto* completed = std::get_if<events::ItemCompleted>(&event);
  const auto call = completed == nullptr ? calls_.end() : calls_.find(completed->item_id);
  if (call == calls_.end()) return out;
  const auto ended = std::move(call->second);
  calls_.erase(call);
  const auto none = json::object{};
  const auto& result = completed->result ? *completed->result : none;
  const bool failed = bool_member(result, "failed").value_or(false);
  // A call that ended for another reason than its result says nothing.
  if (const auto reason = string_member(result, "reason"); reason && *reason != activity::kInterrupted) return out;
  const auto shown = std::exchange(deed_, false) || !failed ? Resolution::Approved : Resolution::Denied;
  for (auto each = open_.begin(); each != open_.end();) {
    if (!concerns(*each, ended)) {
      ++each;
    } else if (each->where == PromptSurface::Closing) {
      resolve(out, each, shown, kHuman, {}, std::nullopt, now);
      each = open_.begin();
    } else {
      (each++)->shown = shown;
    }
  }
  return out;
}

PromptTracker::Told PromptTracker::update(State state, const profiles::ScreenFindings& findings, Timestamp now,
                                          Millis settle) {
  Told out;
  if (state == State::Unknown) {  // nothing can be told from it, but time goes on
    dialog_.reset();
    for (auto each = open_.begin(); each != open_.end();) {
      each->other.reset();
      if (each->where == PromptSurface::OnScreen && each->prompt.empty()) {
        if (!each->unseen_since) each->unseen_since = now.steady;
        if (now.steady >= *each->unseen_since + kUnseen) {
          each->unseen_since.reset();
          close(out, each, now);
          each = open_.begin();
          continue;
        }
      }
      if (each->where != PromptSurface::Closing || now.steady < each->until) {
        ++each;
        continue;
      }
      resolve(out, each, Resolution::Withdrawn, kHuman, kUntold, std::nullopt, now.wall);
      each = open_.begin();
    }
    return out;
  }
  const bool blocked = state == State::Blocked;
  const auto dialog = blocked ? dialog_in(findings) : std::nullopt;
  for (auto each = open_.begin(); each != open_.end();) {
    each->unseen_since.reset();
    if (each->where == PromptSurface::Leaving && blocked) each->where = PromptSurface::OnScreen;
    const bool settled = each->where == PromptSurface::OnScreen && blocked && has_settled(*each, dialog, now.steady);
    const bool over = each->where == PromptSurface::OnScreen
                          ? !blocked || (settled && !each->dialog.empty())
                          : each->where == PromptSurface::Leaving && state == State::Idle;
    if (over) {
      if (each->other) dialog_ = *std::exchange(each->other, std::nullopt);
      const auto before = open_.size();
      close(out, each, now);
      if (open_.size() < before) each = open_.begin();
      continue;
    }
    if (each->where == PromptSurface::Closing && now.steady >= each->until) {
      const bool goes_on = state == State::Working && is_under_way(*each);
      resolve(out, each, goes_on ? Resolution::Approved : Resolution::Withdrawn, kHuman, goes_on ? kWentOn : kUntold,
              std::nullopt, now.wall);
      each = open_.begin();
      continue;
    }
    if (settled) {  // its door has closed, and here is a dialog
      each->other.reset();
      each->dialog = dialog->about;
      each->body = dialog->body;
    }
    if (each->where == PromptSurface::OnScreen && dialog && dialog->about == each->dialog) {
      allow_keys(out, *each, findings, *dialog);
      report_change(out, *each, findings, *dialog);
    }
    ++each;
  }
  const bool nobodys =
      dialog && std::ranges::all_of(open_, [](const Open& each) { return each.where == PromptSurface::Closing; });
  if (!nobodys)
    dialog_.reset();
  else if (!dialog_ || dialog_->about != dialog->about)
    dialog_ = DialogSighting{dialog->about, now.steady};
  settle_ = findings.of_setup ? kHalfDrawn : settle;  // no door opens for what it asks about itself
  if (!dialog_ || now.steady < dialog_->since + settle_) return out;
  dialog_.reset();
  auto request = format("{}-s{}", host_, ++last_);
  open_.push_back({"", request, shown_in(findings, request), PromptSurface::OnScreen, dialog->about, dialog->whole});
  open_.back().body = dialog->body;
  can_answer(open_.back().told) = unless_true(can_press(*dialog, press_));
  out.push_back(open_.back().told);
  return out;
}

/// A dialog that is not known to be this one has stood there long enough to be more than something half drawn.
bool PromptTracker::has_settled(Open& open, const std::optional<Dialog>& dialog, SteadyTime now) {
  const bool other = dialog && dialog->about != open.dialog;
  if (!other)
    open.other.reset();
  else if (!open.other || open.other->about != dialog->about)
    open.other = DialogSighting{dialog->about, now};
  return other && now >= open.other->since + kHalfDrawn;
}

/// Where there is no doubt that this is what was asked, keys may answer it, though nobody could before.
void PromptTracker::allow_keys(Told& out, Open& open, const profiles::ScreenFindings& seen, const Dialog& dialog) {
  if (open.left_alone || can_answer(open.told).value_or(true) || !can_press(dialog, press_)) return;
  const auto unanswered = [](const Open& each) { return each.where != PromptSurface::Closing; };
  if (!open.prompt.empty() && (std::ranges::count_if(open_, unanswered) != 1 || !shows(dialog, open.subject))) return;
  open.whole = dialog.whole;
  if (open.prompt.empty()) open.told = shown_in(seen, open.request);  // it may have been half drawn when it was told
  can_answer(open.told).reset();
  out.push_back(open.told);
}

/// A screen nobody described is about the same whatever it shows, and is told as it is now.
void PromptTracker::report_change(Told& out, Open& open, const profiles::ScreenFindings& seen, const Dialog& dialog) {
  const bool unknown = seen.question && seen.question->pattern == profiles::kUnknownScreen;
  if (!unknown || !open.prompt.empty() || dialog.whole == open.whole) return;
  open.whole = dialog.whole;
  open.told = shown_in(seen, open.request);
  can_answer(open.told) = false;
  out.push_back(open.told);
}

std::optional<SteadyTime> PromptTracker::due() const {
  std::optional<SteadyTime> due;
  const auto at = [&](SteadyTime when) { due = due ? std::min(*due, when) : when; };
  if (dialog_) at(dialog_->since + settle_);
  for (const auto& each : open_) {
    if (each.where == PromptSurface::Closing) at(each.until);
    if (each.unseen_since) at(*each.unseen_since + kUnseen);
    if (each.where == PromptSurface::OnScreen && each.other) at(each.other->since + kHalfDrawn);
  }
  return due;
}

PromptTracker::Told PromptTracker::end(WallMs now) {
  Told out;
  while (!open_.empty())
    resolve(out, open_.begin(), Resolution::Withdrawn, kNobody, "the agent has ended", std::nullopt, now);
  return out;
}

PromptTracker::Told PromptTracker::open() const {
  Told out;
  for (const auto& each : open_) out.push_back(each.told);
  return out;
}

PromptTracker::Told PromptTracker::unanswered() const {
  Told out;
  for (const auto& each : open_)
    if (each.where != PromptSurface::Closing) out.push_back(each.told);
  return out;
}

void PromptTracker::resolve(Told& out, Opens::iterator open, const AnswerRecord& answered, WallMs now) {
  std::string said;
  for (const auto& answer : answered.reply.answers) said += (said.empty() ? "" : "\n") + answer;
  resolve(out, open, answered.timed_out ? Resolution::Timeout : resolution_of(answered.reply.verdict), answered.by,
          answered.reply.message, unless_empty(said), now);
}

void PromptTracker::resolve(Told& out, Opens::iterator open, Resolution how, std::string_view by,
                            std::string_view reason, std::optional<std::string> answer, WallMs now) {
  const auto gone = std::move(*open);
  open_.erase(open);
  const auto who = cut(by, kMaxWordBytes);
  if (std::holds_alternative<events::PermissionRequested>(gone.told))
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
