/// Matches paths by their text alone.
///
/// Globs: `name` is a file of that name anywhere, `name/` a directory of that name and everything below; `./a/b` and
///   `a/b` start in the agent's directory, `/a` at the root, `~/a` in any home directory, `**/a` anywhere. `*` and `?`
///   match within a name, `**` across names.
/// Limit: links are not resolved. A link to another place is judged by its name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "permissions/pattern.h"

namespace relay::permissions {

/// Removes `.`, `..` and doubled slashes; absolute when possible (`~` stays in front).
std::string normalize_path(std::string_view path, std::string_view directory);

/// Is the path the directory or below it? False when the directory is unknown and the path is absolute.
bool is_inside(std::string_view resolved, std::string_view directory);

/// Does a glob of the pattern match the path?
bool matches_path(const Pattern& pattern, std::string_view path, std::string_view directory);

/// Globs for keys, passwords and tokens, by their common names.
std::span<const std::string> secret_globs();
/// May the file run later as the user? Startup files, hooks, settings of agents, files of the system.
bool is_autorun_path(std::string_view path, std::string_view directory);

}  // namespace relay::permissions
