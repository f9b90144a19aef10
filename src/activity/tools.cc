#include "activity/tools.h"

#include <algorithm>
#include <array>
#include <optional>

namespace relay::activity {
namespace {

constexpr ToolKind kOther{"", ToolCategory::Other};

constexpr auto kTools = std::to_array<ToolKind>({
    // Claude Code
    {"Bash", ToolCategory::Shell, "command"},
    {"PowerShell", ToolCategory::Shell, "command"},
    {"Read", ToolCategory::Read, "file_path"},
    {"NotebookRead", ToolCategory::Read, "notebook_path"},
    {"Write", ToolCategory::Write, "file_path", "", "content"},
    {"Edit", ToolCategory::Edit, "file_path", "old_string", "new_string"},
    {"MultiEdit", ToolCategory::Edit, "file_path", "old_string", "new_string"},
    {"NotebookEdit", ToolCategory::Edit, "notebook_path", "", "new_source"},
    {"Glob", ToolCategory::Search, "pattern"},
    {"Grep", ToolCategory::Search, "pattern"},
    {"LS", ToolCategory::Search, "path"},
    {"WebSearch", ToolCategory::Search, "query"},
    {"ToolSearch", ToolCategory::Search, "query"},
    {"TodoWrite", ToolCategory::Plan},
    {"TaskCreate", ToolCategory::Plan, "subject"},
    {"TaskUpdate", ToolCategory::Plan},
    {"TaskList", ToolCategory::Plan},
    {"TaskGet", ToolCategory::Plan},
    {"EnterPlanMode", ToolCategory::Plan},
    {"ExitPlanMode", ToolCategory::Plan, "plan"},
    // Codex
    {"exec", ToolCategory::Script},
    {"exec_command", ToolCategory::Shell, "cmd"},
    {"shell", ToolCategory::Shell, "command"},
    {"shell_command", ToolCategory::Shell, "command"},
    {"local_shell_call", ToolCategory::Shell, "command"},
    {"apply_patch", ToolCategory::Patch, "input"},
    {"update_plan", ToolCategory::Plan, "explanation"},
    {"view_image", ToolCategory::Read, "path"},
    {"list_dir", ToolCategory::Search, "dir_path"},
    {"grep_files", ToolCategory::Search, "pattern"},
    {"web_search_call", ToolCategory::Search, "query"},
    // Gemini CLI; Codex uses one of the same names
    {"run_shell_command", ToolCategory::Shell, "command"},
    {"read_file", ToolCategory::Read, "file_path"},
    {"write_file", ToolCategory::Write, "file_path", "", "content"},
    {"replace", ToolCategory::Edit, "file_path", "old_string", "new_string"},
    {"read_many_files", ToolCategory::Search, "include"},
    {"glob", ToolCategory::Search, "pattern"},
    {"grep_search", ToolCategory::Search, "pattern"},
    {"search_file_content", ToolCategory::Search, "pattern"},
    {"list_directory", ToolCategory::Search, "dir_path"},
    {"google_web_search", ToolCategory::Search, "query"},
    {"write_todos", ToolCategory::Plan},
    {"enter_plan_mode", ToolCategory::Plan},
    {"exit_plan_mode", ToolCategory::Plan, "plan_filename"},
    {"tracker_create_task", ToolCategory::Plan, "title"},
    {"tracker_update_task", ToolCategory::Plan},
    // OpenCode, with Gemini's `glob`
    {"bash", ToolCategory::Shell, "command"},
    {"read", ToolCategory::Read, "filePath"},
    {"write", ToolCategory::Write, "filePath", "", "content"},
    {"edit", ToolCategory::Edit, "filePath", "oldString", "newString"},
    {"multiedit", ToolCategory::Edit, "filePath", "oldString", "newString"},
    {"patch", ToolCategory::Patch, "patchText"},
    {"grep", ToolCategory::Search, "pattern"},
    {"list", ToolCategory::Search, "path"},
    {"websearch", ToolCategory::Search, "query"},
    {"codesearch", ToolCategory::Search, "query"},
    {"todowrite", ToolCategory::Plan},
    {"todoread", ToolCategory::Plan},
    {"plan_enter", ToolCategory::Plan},
    {"plan_exit", ToolCategory::Plan},
});

/// A shell may get an array of words; the command is then the last of three.
std::string string_of(const json::value* value) {
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
  const auto skip = [&](std::string_view characters) {
    at = std::min(script.find_first_not_of(characters, at), script.size());
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
  const auto member = [&](std::string_view name) { return string_of(input.if_contains(name)); };
  auto subject = kind.subject.empty() ? std::string{} : member(kind.subject);
  // The same tool in other versions, and of another agent.
  if (subject.empty() && kind.use == ToolCategory::Read) subject = member("absolute_path");
  if (subject.empty() && kind.use == ToolCategory::Patch) subject = member("patchText");
  if (subject.empty() && kind.use == ToolCategory::Search) subject = member("path");
  return subject;
}

std::string subject_of(const ToolKind& kind, std::string_view input) {
  if (kind.use == ToolCategory::Script) return command_in_script(input);
  const auto object = parse_json_object(input);
  if (object) return subject_of(kind, *object);
  return kind.use == ToolCategory::Patch ? std::string{input} : std::string{};
}

}  // namespace relay::activity
