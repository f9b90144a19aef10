#include "permissions/tools.h"

#include <algorithm>

namespace relay::permissions {
namespace {

struct Alias {
  std::string_view alias;  // in lower case
  std::string_view canonical;
};

/// The names in hooks, servers, transcripts and screens of the agents. A tool of an MCP server has the server's name in
/// front, so it is not one of these. A tool that can read and write (goose's text editor) counts as writing.
constexpr Alias kAliases[] = {
    // Claude Code
    {"bash", tool::kBash},
    {"read", tool::kRead},
    {"notebookread", tool::kRead},
    {"edit", tool::kEdit},
    {"multiedit", tool::kEdit},
    {"notebookedit", tool::kEdit},
    {"write", tool::kWrite},
    {"glob", tool::kGlob},
    {"grep", tool::kGrep},
    {"ls", tool::kList},
    {"webfetch", tool::kFetch},
    // Codex
    {"shell", tool::kBash},
    {"shell_command", tool::kBash},
    {"local_shell", tool::kBash},
    {"exec", tool::kBash},
    {"exec_command", tool::kBash},
    {"unified_exec", tool::kBash},
    {"apply_patch", tool::kEdit},
    // Gemini CLI: the names of its hooks, then those on its screen
    {"run_shell_command", tool::kBash},
    {"read_file", tool::kRead},
    {"readfile", tool::kRead},
    {"list_directory", tool::kList},
    {"readfolder", tool::kList},
    {"findfiles", tool::kGlob},
    {"search_file_content", tool::kGrep},
    {"grep_search", tool::kGrep},
    {"searchtext", tool::kGrep},
    {"ripgrep", tool::kGrep},
    {"replace", tool::kEdit},
    {"write_file", tool::kWrite},
    {"writefile", tool::kWrite},
    {"web_fetch", tool::kFetch},
    // OpenCode
    {"patch", tool::kEdit},
    {"list", tool::kList},
    // goose
    {"developer__shell", tool::kBash},
    {"developer__text_editor", tool::kEdit},
};

}  // namespace

std::string canonical_tool(std::string_view name) {
  std::string lower{name};
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const auto* const found = std::ranges::find(kAliases, lower, &Alias::alias);
  return found == std::end(kAliases) ? lower : std::string{found->canonical};
}

}  // namespace relay::permissions
