#include "activity/tools.h"

#include <algorithm>
#include <array>
#include <optional>

namespace relay::activity {
namespace {

constexpr ToolKind kOther{"", Use::Other};

constexpr auto kTools = std::to_array<ToolKind>({
    // Claude Code
    {"Bash", Use::Shell, "command"},
    {"PowerShell", Use::Shell, "command"},
    {"Read", Use::Read, "file_path"},
    {"NotebookRead", Use::Read, "notebook_path"},
    {"Write", Use::Write, "file_path", "", "content"},
    {"Edit", Use::Edit, "file_path", "old_string", "new_string"},
    {"MultiEdit", Use::Edit, "file_path", "old_string", "new_string"},
    {"NotebookEdit", Use::Edit, "notebook_path", "", "new_source"},
    {"Glob", Use::Search, "pattern"},
    {"Grep", Use::Search, "pattern"},
    {"LS", Use::Search, "path"},
    {"WebSearch", Use::Search, "query"},
    {"ToolSearch", Use::Search, "query"},
    {"TodoWrite", Use::Plan},
    {"TaskCreate", Use::Plan, "subject"},
    {"TaskUpdate", Use::Plan},
    {"TaskList", Use::Plan},
    {"TaskGet", Use::Plan},
    {"EnterPlanMode", Use::Plan},
    {"ExitPlanMode", Use::Plan, "plan"},
    // Codex
    {"exec", Use::Script},
    {"exec_command", Use::Shell, "cmd"},
    {"shell", Use::Shell, "command"},
    {"shell_command", Use::Shell, "command"},
    {"local_shell_call", Use::Shell, "command"},
    {"apply_patch", Use::Patch, "input"},
    {"update_plan", Use::Plan, "explanation"},
    {"view_image", Use::Read, "path"},
    {"list_dir", Use::Search, "dir_path"},
    {"grep_files", Use::Search, "pattern"},
    {"web_search_call", Use::Search, "query"},
    // Gemini CLI; Codex calls one of them the same
    {"run_shell_command", Use::Shell, "command"},
    {"read_file", Use::Read, "file_path"},
    {"write_file", Use::Write, "file_path", "", "content"},
    {"replace", Use::Edit, "file_path", "old_string", "new_string"},
    {"read_many_files", Use::Search, "include"},
    {"glob", Use::Search, "pattern"},
    {"grep_search", Use::Search, "pattern"},
    {"search_file_content", Use::Search, "pattern"},
    {"list_directory", Use::Search, "dir_path"},
    {"google_web_search", Use::Search, "query"},
    {"write_todos", Use::Plan},
    {"enter_plan_mode", Use::Plan},
    {"exit_plan_mode", Use::Plan, "plan_filename"},
    {"tracker_create_task", Use::Plan, "title"},
    {"tracker_update_task", Use::Plan},
    // OpenCode, with Gemini's `glob`
    {"bash", Use::Shell, "command"},
    {"read", Use::Read, "filePath"},
    {"write", Use::Write, "filePath", "", "content"},
    {"edit", Use::Edit, "filePath", "oldString", "newString"},
    {"multiedit", Use::Edit, "filePath", "oldString", "newString"},
    {"patch", Use::Patch, "patchText"},
    {"grep", Use::Search, "pattern"},
    {"list", Use::Search, "path"},
    {"websearch", Use::Search, "query"},
    {"codesearch", Use::Search, "query"},
    {"todowrite", Use::Plan},
    {"todoread", Use::Plan},
    {"plan_enter", Use::Plan},
    {"plan_exit", Use::Plan},
});

/// A shell may be given words: then what it is to run is the last of three.
std::string text_in(const json::value* value) {
  if (value == nullptr) return {};
  if (value->is_string()) return std::string{value->get_string()};
  const auto* words = value->if_array();
  if (words == nullptr) return {};
  std::string line;
  for (const auto& word : *words)
    if (word.is_string()) line += (line.empty() ? "" : " ") + std::string{word.get_string()};
  const bool shell = words->size() == 3 && (*words)[1].is_string() && (*words)[2].is_string() &&
                     ((*words)[1].get_string() == "-lc" || (*words)[1].get_string() == "-c");
  return shell ? std::string{(*words)[2].get_string()} : line;
}

/// `tools.exec_command({cmd: "npm test"})`: the first command in a script, when it is written as one text.
std::string command_in_script(std::string_view script) {
  constexpr auto kNone = std::string_view::npos;
  auto at = script.find("exec_command");
  if (at != kNone) at = script.find("cmd", at);
  if (at == kNone) return {};
  at += 3;
  const auto skip = [&](std::string_view letters) {
    at = std::min(script.find_first_not_of(letters, at), script.size());
  };
  if (at < script.size() && (script[at] == '"' || script[at] == '\'')) ++at;
  skip(" \t");
  if (at == script.size() || script[at] != ':') return {};
  ++at;
  skip(" \t\n");
  if (at == script.size() || std::string_view{"\"'`"}.find(script[at]) == kNone) return {};
  const char quote = script[at++];
  std::string command;
  for (; at < script.size() && script[at] != quote; ++at) {
    if (script[at] == '\\' && at + 1 < script.size()) ++at;
    command += script[at];
  }
  return at < script.size() ? command : std::string{};
}

}  // namespace

const ToolKind& kind_of(std::string_view tool) {
  const auto* found = std::ranges::find(kTools, tool, &ToolKind::name);
  return found == kTools.end() ? kOther : *found;
}

std::string subject_of(const ToolKind& kind, const json::object& input) {
  const auto member = [&](std::string_view name) { return text_in(input.if_contains(name)); };
  auto subject = kind.subject.empty() ? std::string{} : member(kind.subject);
  // The same tool in other versions, and of another agent.
  if (subject.empty() && kind.use == Use::Read) subject = member("absolute_path");
  if (subject.empty() && kind.use == Use::Patch) subject = member("patchText");
  if (subject.empty() && kind.use == Use::Search) subject = member("path");
  return subject;
}

std::string subject_of(const ToolKind& kind, std::string_view input) {
  if (kind.use == Use::Script) return command_in_script(input);
  const auto object = parse_json_object(input);
  if (object) return subject_of(kind, *object);
  return kind.use == Use::Patch ? std::string{input} : std::string{};
}

}  // namespace relay::activity
