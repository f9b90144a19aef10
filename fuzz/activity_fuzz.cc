/// Any transcript, tool input or patch: every event conforms to its schema, and every started item completes once.
///
/// The lines of the input go through every reader. The whole input is also a command, a result, a patch and a diff.
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "activity/activity.h"
#include "activity/commands.h"
#include "activity/diff.h"
#include "activity/outcome.h"
#include "activity/patch.h"
#include "check.h"
#include "transcripts/fields.h"
#include "transcripts/limits.h"
#include "transcripts/reader.h"

namespace {

using namespace relay;
using namespace relay::activity;

class Items {
 public:
  void take(const TimedEvents& all) {
    for (const auto& [event, at] : all) {
      FUZZ_CHECK(events::read_event(events::type_of(event), events::members_of(event)).has_value());
      if (const auto* started = std::get_if<events::ItemStarted>(&event)) open_.insert(started->item_id);
      if (const auto* delta = std::get_if<events::ItemDelta>(&event)) FUZZ_CHECK(open_.contains(delta->item_id));
      if (const auto* completed = std::get_if<events::ItemCompleted>(&event)) {
        const auto found = open_.find(completed->item_id);
        FUZZ_CHECK(found != open_.end());
        open_.erase(found);
      }
    }
  }
  [[nodiscard]] bool all_ended() const { return open_.empty(); }

 private:
  std::multiset<std::string> open_;
};

void follow(transcripts::Reader& reader, std::string_view text) {
  Activity activity{"transcript"};
  Items items;
  while (!text.empty()) {
    const auto end = text.find('\n');
    for (const auto& entry : reader.read(text.substr(0, end))) items.take(activity.take(entry, reader.written_at()));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  items.take(activity.end("the record ends", 0));
  FUZZ_CHECK(items.all_ended());
}

/// The input as a tool input and as a tool result.
void use(std::string_view tool, const std::string& text) {
  Activity activity{"transcript"};
  Items items;
  items.take(activity.take(transcripts::ToolCall{.id = "c", .name = std::string{tool}, .input = text}, 1));
  items.take(activity.take(transcripts::ToolResult{.id = "c", .text = text}, 2));
  FUZZ_CHECK(items.all_ended());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  for (const auto& reader : {transcripts::claude_reader(), transcripts::codex_reader(), transcripts::gemini_reader()})
    follow(*reader, input);
  (void)item_type_of(input);
  // Transcript texts are valid UTF-8.
  if (!parse_json(json::serialize(json::value(json::string_view{input.data(), input.size()})))) return 0;
  const auto text = transcripts::truncated(input, transcripts::kMaxToolText);
  for (const auto* tool : {"Bash", "Edit", "Write", "apply_patch", "exec", "read", "unknown"}) use(tool, text);
  FUZZ_CHECK(files_in_patch(text).size() <= kMaxPatchedFiles);
  FUZZ_CHECK(parse_outcome(text).output.size() <= text.size());
  FUZZ_CHECK(diff_between(text, text).text.empty());
  FUZZ_CHECK(diff_from(diff_between("", text).text).lines_changed >= 0);
  return 0;
}
