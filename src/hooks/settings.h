/// Settings of Claude Code and Gemini CLI as values: reading them, and adding hooks without changing the rest.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace relay::hooks {

inline constexpr std::size_t kMaxSettingsBytes = 4 << 20;

/// The whole file; empty when it does not exist. Refuses a file that is not ordinary or larger than
/// `kMaxSettingsBytes`.
Result<std::optional<std::string>> read_settings_file(const std::string& path);
/// The same for a file in a project, which another user may have written: `file` is opened below `project`, no link
/// leads to it, and it belongs to this user (base/beneath.h).
Result<std::optional<std::string>> read_project_settings(const std::string& project, const std::string& file);

/// Strict JSON, or JSON with comments as Gemini CLI reads it.
enum class Comments { Reject, Skip };
Result<json::object> parse_settings(std::string_view text, Comments comments);

/// Appends the groups of each event of `hooks` to those in `settings`. Fails when a member there has another form.
Result<void> add_hooks(json::object& settings, const json::object& hooks);

/// A new file that only its owner can read; replaces an existing one.
Result<void> write_private_file(const std::string& path, std::string_view text);

}  // namespace relay::hooks
