#include "host/prompts/prompt_events.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "activity/activity.h"
#include "activity/patch.h"
#include "activity/tools.h"
#include "base/format.h"
#include "base/json.h"
#include "host/prompts/dialog.h"
#include "text/utf8.h"

namespace relay::host {
namespace {

constexpr std::size_t kMaxOptions = 64;

/// The dialog of a tool that changes files (`WriteFile`, `Edit`) has a sentence where others have their command.
bool changes_files(std::string_view tool) {
  std::string lower;
  std::ranges::transform(tool, std::back_inserter(lower), [](unsigned char c) { return std::tolower(c); });
  return lower.find("write") != std::string::npos || lower.find("edit") != std::string::npos;
}

events::Event make_permission(const adapters::Prompt& prompt, std::string request) {
  const auto& kind = activity::kind_of(prompt.tool);
  events::PermissionRequested requested{.request_id = std::move(request),
                                        .tool = truncated(prompt.tool, kMaxNameBytes),
                                        .description = truncated(prompt.summary, kMaxTextBytes)};
  requested.directory = unless_empty(truncated(prompt.directory, kMaxPathBytes));
  if (prompt.partial || prompt.directory.size() > kMaxPathBytes) requested.partial = true;
  const auto input = parse_json_object(prompt.input);
  const auto member = [&](std::string_view name) { return input ? string_member(*input, name).value_or("") : ""; };
  if (kind.use == activity::ToolCategory::Patch) {
    // The event has one path, no target of a move and no malformed header, so no rule may decide a patch.
    const auto files = activity::files_in_patch(member("command"));
    if (files.size() == 1) requested.file_path = unless_empty(truncated(files.front().path, kMaxPathBytes));
    requested.partial = true;
    return requested;
  }
  // A hook may use other tool names than the transcript; the input still has the subject.
  auto command = kind.use == activity::ToolCategory::Shell || kind.use == activity::ToolCategory::Script
                     ? activity::subject_of(kind, prompt.input)
                     : std::string{};
  if (command.empty()) command = member("command");
  requested.command = unless_empty(truncated(command, kMaxTextBytes));
  if (command.size() > kMaxTextBytes) requested.partial = true;
  for (const auto* name : {"file_path", "filePath", "filepath", "notebook_path", "path"})
    if (!requested.file_path) {
      const auto path = member(name);
      requested.file_path = unless_empty(truncated(path, kMaxPathBytes));
      if (path.size() > kMaxPathBytes) requested.partial = true;
    }
  // The event does not have the files that a search reads, so no rule may decide it.
  for (const auto* name :
       {"glob", "globs", "include", "include_pattern", "include_patterns", "includes", "paths", "files"})
    if (input && input->contains(name)) requested.partial = true;
  return requested;
}

events::Event make_question(const adapters::Prompt& prompt, std::string request) {
  events::QuestionRequested requested{.question_id = std::move(request)};
  for (const auto& question : prompt.questions)
    requested.question += (requested.question.empty() ? "" : "\n") + question.text;
  requested.question = truncated(requested.question.empty() ? prompt.summary : requested.question, kMaxTextBytes);
  if (prompt.questions.size() == 1 && !prompt.questions.front().choices.empty()) {
    const auto& choices = prompt.questions.front().choices;
    const auto count = std::min(choices.size(), kMaxOptions);
    requested.options.emplace(choices.begin(), choices.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return requested;
}

}  // namespace

std::string truncated(std::string_view text, std::size_t limit) {
  return std::string{text::truncate_utf8(text, limit)};
}

std::optional<std::string> unless_empty(std::string text) {
  if (text.empty()) return std::nullopt;
  return text;
}

events::Event native_request(const adapters::Prompt& prompt, std::string request) {
  return prompt.kind == adapters::PromptKind::Permission ? make_permission(prompt, std::move(request))
                                                         : make_question(prompt, std::move(request));
}

events::Event screen_request(const profiles::ScreenFindings& findings, std::string request) {
  if (const auto& permission = findings.permission) {
    const auto what = permission->command.empty() ? permission->tool : permission->command;
    return events::PermissionRequested{
        .request_id = std::move(request),
        .tool = truncated(permission->tool, kMaxNameBytes),
        .command = changes_files(permission->tool) ? std::nullopt
                                                   : unless_empty(truncated(permission->command, kMaxTextBytes)),
        .description =
            truncated(permission->body.empty() ? what : without_repeated_subject(permission->body), kMaxTextBytes),
        .partial = true};
  }
  const auto& dialog = *findings.question;
  const bool unknown = dialog.pattern == profiles::kUnknownScreen;
  events::QuestionRequested requested{
      .question_id = std::move(request),
      .question = truncated(unknown ? format("{}:\n{}", dialog.text, dialog.body) : dialog.text, kMaxTextBytes)};
  std::vector<std::string> options;
  for (const auto& choice : dialog.choices)
    if (options.size() < kMaxOptions) options.push_back(choice.label);
  if (!options.empty()) requested.options = std::move(options);
  return requested;
}

std::optional<bool>& can_answer(events::Event& event) {
  auto* permission = std::get_if<events::PermissionRequested>(&event);
  return permission != nullptr ? permission->can_answer : std::get<events::QuestionRequested>(event).can_answer;
}

events::Resolution resolution_of(adapters::PromptAnswer::Decision decision) {
  return decision == adapters::PromptAnswer::Decision::Approve ? events::Resolution::Approved
                                                               : events::Resolution::Denied;
}

std::string subject_of(const adapters::Prompt& prompt) {
  return activity::subject_of(activity::kind_of(prompt.tool), prompt.input);
}

}  // namespace relay::host
