#include "adapters/prompt.h"

#include "text/sanitize.h"
#include "text/utf8.h"

namespace relay::adapters {
namespace {

constexpr std::size_t kMaxSummaryBytes = 300;

}  // namespace

std::string_view name_of(PromptKind kind) { return kind == PromptKind::Permission ? "permission" : "question"; }

std::string summary_of(std::string_view tool, const json::object& input) {
  std::string what;
  for (const auto name : {"command", "file_path", "filepath", "filePath", "path", "url", "pattern", "query"})
    if (what.empty()) what = string_member(input, name).value_or("");
  if (what.empty() && !input.empty()) what = json::serialize(input);
  const auto line = std::string{tool} + (what.empty() ? "" : ": ") + what;
  const auto shown = text::truncate_utf8(line, kMaxSummaryBytes);
  return text::sanitize_line(shown) + (shown.size() < line.size() ? "…" : "");
}

}  // namespace relay::adapters
