/// Matches paths by their text alone.
///
/// Globs: `name` is a file of that name anywhere, `name/` a directory of that name and everything below; `./a/b` and
///   `a/b` start in the agent's directory, `/a` at the root, `~/a` at any home, `**/a` anywhere. `*` and `?` match
///   within a name, `**` across names.
/// Limit: links are not resolved. A path that leads elsewhere is judged by its name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "permissions/pattern.h"

namespace relay::permissions {

/// Removes `.`, `..` and doubled slashes; absolute when possible (`~` stays in front).
std::string normalize_path(std::string_view path, std::string_view directory);

/// Whether the path is the directory or below it; never when the directory is unknown and the path is absolute.
bool is_inside(std::string_view resolved, std::string_view directory);

/// Whether a glob of the pattern matches the path.
bool matches_path(const Pattern& pattern, std::string_view path, std::string_view directory);

/// Globs for keys, passwords and tokens, by their usual names.
std::span<const std::string> secret_globs();
/// Whether the file may run later as the user: startup files, hooks, settings of agents, files of the system.
bool is_autorun_path(std::string_view path, std::string_view directory);

}  // namespace relay::permissions
