/// What the readers share: a line as an object, and its fields within our limits. Used by the readers only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "transcripts/entry.h"

namespace relay::transcripts {

/// One line as an object. Half a surrogate pair, which programs written in JavaScript leave behind when they cut a text,
/// becomes U+FFFD.
Result<json::object> parse_line(std::string_view line);

/// At most `limit` bytes, no character torn.
std::string clipped(std::string_view text, std::size_t limit);

/// A member by name, clipped; empty when it is not a string.
std::string word_of(const json::object& object, std::string_view name);
std::string text_of(const json::object& object, std::string_view name);

bool is_true(const json::object& object, std::string_view name);

/// A number of tokens: not negative, and small enough to add up; nothing when it is something else.
std::optional<std::int64_t> count_member(const json::object& object, std::string_view name);

/// What stands in a `content`: a string, or blocks with a `text` each, joined by line ends.
std::string content_text(const json::value* content);
std::string content_text(const json::object& object, std::string_view name);

ToolCall tool_of(std::string id, std::string name, const json::value* input);
ToolResult result_of(std::string id, std::string_view text, bool failed);

FailureKind failure_kind(std::string_view code, std::int64_t status);

}  // namespace relay::transcripts
