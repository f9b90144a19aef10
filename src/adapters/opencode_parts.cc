#include "adapters/opencode_parts.h"

#include <algorithm>

#include "text/utf8.h"
#include "transcripts/limits.h"

namespace relay::adapters {
namespace {

using transcripts::kMaxToolText;
using transcripts::kMaxWord;

std::string text_of(const json::object& object, std::string_view name, std::size_t limit) {
  return std::string{text::truncate_utf8(string_member(object, name).value_or(""), limit)};
}

const json::object& inner_of(const json::object& object, std::string_view name) {
  static const json::object kNothing;
  const auto* found = object_member(object, name);
  return found != nullptr ? *found : kNothing;
}

WallMs time_of(const json::object& state, std::string_view name) {
  return std::max<WallMs>(0, integer_member(inner_of(state, "time"), name).value_or(0));
}

}  // namespace

std::optional<ToolUse> tool_use_in(const json::object& part) {
  const auto& state = inner_of(part, "state");
  const auto status = text_of(state, "status", kMaxWord);
  const auto& input = inner_of(state, "input");
  ToolUse use{.tool = {.id = text_of(part, "callID", kMaxWord), .name = text_of(part, "tool", kMaxWord)},
              .began = time_of(state, "start"),
              .ended = time_of(state, "end")};
  const bool ended = status == "completed" || status == "error";
  if (use.tool.id.empty() || (!ended && status != "running")) return std::nullopt;
  const auto given = json::serialize(input);
  use.tool.input = text::truncate_utf8(given, kMaxToolText);
  use.tool.cut = use.tool.input.size() < given.size();
  const auto& about = inner_of(state, "metadata");
  if (!ended) {
    use.printed = text_of(about, "output", kMaxToolText);
    return use;
  }
  const bool failed = status == "error";
  use.result = {.id = use.tool.id, .text = text_of(state, failed ? "error" : "output", kMaxToolText), .failed = failed};
  if (failed) return use;
  if (about.contains("exit"))
    use.command = {.tool = use.tool.id,
                   .exit_code = integer_member(about, "exit"),
                   .duration_ms = std::max<WallMs>(0, use.ended - use.began),
                   .output = text_of(about, "output", kMaxToolText)};
  if (const auto path = text_of(input, "filePath", kMaxToolText); !path.empty()) {
    if (about.contains("diff"))
      use.change = {.tool = use.tool.id, .path = path, .diff = text_of(about, "diff", transcripts::kMaxText)};
    else if (bool_member(about, "exists") == false && input.contains("content"))
      use.change = {.tool = use.tool.id,
                    .change = transcripts::Change::Created,
                    .path = path,
                    .content = text_of(input, "content", transcripts::kMaxText)};
  }
  return use;
}

}  // namespace relay::adapters
