/// Paths as rules see them, told from their letters alone.
///
/// Globs: `name` is a file of that name anywhere, `name/` a directory of that name and all below; `./a/b` and `a/b`
///   begin where the agent works, `/a` at the root, `~/a` at any home, `**/a` anywhere. `*` and `?` stay within a name,
///   `**` does not.
/// What this cannot know: links. A path that leads elsewhere is judged by what it is called.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "permissions/pattern.h"

namespace relay::permissions {

/// Without `.`, `..` and doubled slashes; absolute when it can be (`~` stays in front).
std::string normalize_path(std::string_view path, std::string_view directory);

/// A resolved path is the directory or below it; never when the directory is not known and the path is absolute.
bool is_inside(std::string_view resolved, std::string_view directory);

/// Files that a glob of the pattern means.
bool matches_path(const Pattern& pattern, std::string_view path, std::string_view directory);

/// Keys, passwords, tokens by the names they usually have.
std::span<const std::string> secret_globs();
/// What runs later, as the person: startup files, hooks, settings of agents, the system's own.
bool is_autorun_path(std::string_view path, std::string_view directory);

}  // namespace relay::permissions
