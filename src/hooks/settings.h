/// Settings of Claude Code and Gemini CLI as values: reading them, and adding hooks without touching the rest.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace relay::hooks {

inline constexpr std::size_t kMaxSettingsBytes = 4 << 20;

/// The whole file; empty when there is none. Refuses what is no ordinary file or larger than `kMaxSettingsBytes`.
Result<std::optional<std::string>> read_settings_file(const std::string& path);
/// The same for a file in a project, which another person may have written: `file` is opened below `project`, no link
/// leads to it, and it belongs to this user (base/beneath.h).
Result<std::optional<std::string>> read_project_settings(const std::string& project, const std::string& file);

/// Strict JSON, or JSON with comments as Gemini CLI reads it.
enum class Comments { Refused, Skipped };
Result<json::object> parse_settings(std::string_view text, Comments comments);

/// `settings` with each event of `hooks` appended to what is there. Fails when something there has another shape.
Result<void> add_hooks(json::object& settings, const json::object& hooks);

/// A new file only its owner can read, in place of whatever has that name.
Result<void> write_private_file(const std::string& path, std::string_view text);

}  // namespace relay::hooks
