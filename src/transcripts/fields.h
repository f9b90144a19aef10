/// Helpers of the readers: parses a line, and reads its fields within the limits. Used by the readers only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "transcripts/entry.h"

namespace relay::transcripts {

/// Parses one line as an object. A lone surrogate, which JavaScript programs produce when they cut a text, becomes
/// U+FFFD.
Result<json::object> parse_line(std::string_view line);

/// At most `limit` bytes, cut between characters.
std::string truncated(std::string_view text, std::size_t limit);

/// A member by name, truncated to kMaxWord or kMaxText; empty when it is not a string.
std::string short_string(const json::object& object, std::string_view name);
std::string long_string(const json::object& object, std::string_view name);

bool is_true(const json::object& object, std::string_view name);

/// A number of tokens: not negative, and small enough to add up; empty for anything else.
std::optional<std::int64_t> count_member(const json::object& object, std::string_view name);

/// The text of a `content`: a string, or blocks with a `text` each, joined by line ends.
std::string content_text(const json::value* content);
std::string content_text(const json::object& object, std::string_view name);

ToolCall make_tool_call(std::string id, std::string name, const json::value* input);
ToolResult make_tool_result(std::string id, std::string_view text, bool failed);

FailureKind classify_failure(std::string_view code, std::int64_t status);

}  // namespace relay::transcripts
