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

const json::object& member_of(const json::object& object, std::string_view name) {
  static const json::object kNothing;
  const auto* found = object_member(object, name);
  return found != nullptr ? *found : kNothing;
}

WallMs time_of(const json::object& state, std::string_view name) {
  return std::max<WallMs>(0, integer_member(member_of(state, "time"), name).value_or(0));
}

}  // namespace

std::optional<ToolUse> parse_tool_use(const json::object& part) {
  const auto& state = member_of(part, "state");
  const auto status = text_of(state, "status", kMaxWord);
  const auto& input = member_of(state, "input");
  ToolUse use{.tool = {.id = text_of(part, "callID", kMaxWord), .name = text_of(part, "tool", kMaxWord)},
              .started_at = time_of(state, "start"),
              .ended_at = time_of(state, "end")};
  const bool ended = status == "completed" || status == "error";
  if (use.tool.id.empty() || (!ended && status != "running")) return std::nullopt;
  const auto whole = json::serialize(input);
  use.tool.input = text::truncate_utf8(whole, kMaxToolText);
  use.tool.cut = use.tool.input.size() < whole.size();
  const auto& metadata = member_of(state, "metadata");
  if (!ended) {
    use.output = text_of(metadata, "output", kMaxToolText);
    return use;
  }
  const bool failed = status == "error";
  use.result = {.id = use.tool.id, .text = text_of(state, failed ? "error" : "output", kMaxToolText), .failed = failed};
  if (failed) return use;
  if (metadata.contains("exit"))
    use.command = {.tool = use.tool.id,
                   .exit_code = integer_member(metadata, "exit"),
                   .duration_ms = std::max<WallMs>(0, use.ended_at - use.started_at),
                   .output = text_of(metadata, "output", kMaxToolText)};
  if (const auto path = text_of(input, "filePath", kMaxToolText); !path.empty()) {
    if (metadata.contains("diff"))
      use.change = {.tool = use.tool.id, .path = path, .diff = text_of(metadata, "diff", transcripts::kMaxText)};
    else if (bool_member(metadata, "exists") == false && input.contains("content"))
      use.change = {.tool = use.tool.id,
                    .change = transcripts::Change::Created,
                    .path = path,
                    .content = text_of(input, "content", transcripts::kMaxText)};
  }
  return use;
}

}  // namespace relay::adapters
