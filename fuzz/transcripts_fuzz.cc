/// Any transcript: no reader crashes, all fields are UTF-8 within their limits, and lines read twice yield nothing new.
///
/// The lines of the input go through every reader, then once more.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "check.h"
#include "transcripts/limits.h"
#include "transcripts/reader.h"

namespace {

using namespace relay::transcripts;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

/// A truncated field must end at a whole character.
bool ends_whole(std::string_view text) {
  std::size_t back = 0;
  while (back < 4 && back < text.size() && (static_cast<unsigned char>(text[text.size() - 1 - back]) & 0xC0U) == 0x80U)
    ++back;
  if (back == text.size()) return back == 0;
  const auto lead = static_cast<unsigned char>(text[text.size() - 1 - back]);
  const std::size_t follow = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  return back == follow;
}

void check_field(std::string_view text, std::size_t limit) { FUZZ_CHECK(text.size() <= limit && ends_whole(text)); }

constexpr std::size_t kMaxId = 2 * kMaxWord + 32;  // two fields of the transcript and a number

void check(const SessionInfo& it) { check_field(it.id, kMaxId), check_field(it.working_directory, kMaxText); }
void check(const Text& it) {
  check_field(it.id, kMaxId), check_field(it.text, kMaxText);
  FUZZ_CHECK(it.text.starts_with(complete_lines(it)));
}
void check(const Thought& it) { check_field(it.id, kMaxId), check_field(it.text, kMaxText); }
void check(const ModelInput& it) {
  check_field(it.id, kMaxId), check_field(it.text, kMaxText);
  check_field(it.from, kMaxWord), check_field(it.message_id, kMaxWord);
}
void check(const Queued& it) { check_field(it.text, kMaxText), check_field(it.reason, kMaxWord); }
void check(const ToolCall& it) { check_field(it.name, kMaxWord), check_field(it.input, kMaxToolText); }
void check(const ToolResult& it) { check_field(it.id, kMaxWord), check_field(it.text, kMaxToolText); }
void check(const CommandRun& it) {
  check_field(it.tool, kMaxWord), check_field(it.text, kMaxToolText);
  check_field(it.output, kMaxToolText), check_field(it.errors, kMaxToolText);
  FUZZ_CHECK(!it.duration_ms || *it.duration_ms >= 0);
}
void check(const FileChange& it) {
  check_field(it.tool, kMaxWord), check_field(it.path, kMaxToolText), check_field(it.moved_to, kMaxToolText);
  check_field(it.diff, kMaxText), check_field(it.content, kMaxText);
}
void check(const TokenUsage& it) { check_field(it.id, kMaxId), check_field(it.model, kMaxWord); }
void check(const Limit& it) { FUZZ_CHECK(!it.name.empty()); }
void check(const TurnFailure& it) { check_field(it.code, kMaxWord), check_field(it.text, kMaxText); }
void check(const TurnStarted& it) { check_field(it.id, kMaxWord); }
void check(const TurnEnded& it) { check_field(it.id, kMaxWord); }
void check(const Unknown& it) {
  check_field(it.type, kMaxWord);
  FUZZ_CHECK(!it.problem.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto lines = lines_of({reinterpret_cast<const char*>(data), size});
  for (const auto& reader : {claude_reader(), codex_reader(), gemini_reader()}) {
    for (const auto line : lines)
      for (const auto& entry : reader->read(line)) std::visit([](const auto& it) { check(it); }, entry);
    if (lines.size() != 1) continue;
    reader->restart();
    for (const auto& entry : reader->read(lines[0]))
      if (const auto* text = std::get_if<Text>(&entry)) FUZZ_CHECK(text->id.empty() || text->id[0] == '/');
  }
  return 0;
}
