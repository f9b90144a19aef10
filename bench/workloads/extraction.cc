/// Throughput of command extraction: text through the grammar, whole and in chunks; screen rows through unwrapping and
/// grammar, and through all dialog and limit patterns. Compared with RE2 and the one-line rule of the published
/// program.
#include <re2/re2.h>

#include <algorithm>

#include "commands/extractor.h"
#include "commands/screen_extractor.h"
#include "output/agent_text.h"
#include "profiles/default_patterns.h"
#include "profiles/screen_findings.h"
#include "workloads/processor_time.h"
#include "workloads/workload.h"

namespace relay::bench {
namespace {

constexpr std::size_t kTextBytes = 16u << 20, kRowsBytes = kTextBytes / 8, kRowWidth = 118;

/// The one-line rule as a pattern, matched on each line, as in the published program.
std::size_t count_with_re2(const RE2& pattern, std::string_view text) {
  std::size_t found = 0;
  re2::StringPiece target;
  re2::StringPiece body;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    found += RE2::PartialMatch(re2::StringPiece{text.data(), end}, pattern, &target, &body) ? 1U : 0U;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

std::size_t count_in_chunks(std::string_view text, std::size_t chunk) {
  commands::Extractor extractor;
  std::size_t found = 0;
  while (!text.empty()) {
    found += extractor.feed(text.substr(0, chunk)).size();
    text.remove_prefix(std::min(chunk, text.size()));
  }
  return found + extractor.finish().size();
}

std::vector<commands::ScreenLine> wrapped_rows(std::string_view text, std::size_t width) {
  std::vector<commands::ScreenLine> rows;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    do {
      auto cut = line.size() <= width ? line.size() : line.substr(0, width + 1).rfind(' ');
      if (cut == std::string_view::npos || cut == 0) cut = std::min(width, line.size());
      rows.push_back({.text = std::string{line.substr(0, cut)}, .indent = 0, .width = width, .soft = false});
      line.remove_prefix(std::min(cut + 1, line.size()));
    } while (!line.empty());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return rows;
}

struct Input {
  std::string text = agent_like_text(kTextBytes);
  std::vector<commands::ScreenLine> rows = wrapped_rows(std::string_view{text}.substr(0, kRowsBytes), kRowWidth);
  std::vector<std::string> plain_rows = {};
  RE2 pattern{R"(^(?:\s*(?:[>$%#→➜›»●•◦‣⁃\-*⏺◆◇○□■]\s*)*)?@relay:(\S+)\s+(.+)$)"};
  Result<profiles::PatternDetector> detector = profiles::PatternDetector::compile(profiles::default_patterns());

  Input() {
    for (const auto& row : rows) plain_rows.push_back(row.text);
  }
};

/// The text matches no limit, so all patterns are tried on every row.
std::size_t find_limits(const Input& all) { return detect(*all.detector, all.plain_rows).limits.size(); }

/// Reads the input once and returns the number of matches.
Candidate candidate(Traits traits, std::size_t bytes, std::size_t (*extract)(const Input&)) {
  return {
      .traits = std::move(traits), .run = [bytes, extract](const Scale&) -> Result<std::vector<Outcome>> {
        static const Input input;
        if (!input.pattern.ok() || !input.detector) return fail("a pattern cannot be compiled");
        std::size_t found = 0;
        const auto seconds = processor_seconds([&] { found = extract(input); });
        if (found == 0 && extract != find_limits) return fail("nothing was extracted");
        return std::vector{Outcome{.variant = "agent-like text",
                                   .measurements = {{Metric::Throughput, static_cast<double>(bytes) / 1e6 / seconds}}}};
      }};
}

}  // namespace

Workload extraction_work() {
  return {.name = "extraction",
          .title = "relay commands extracted from agent output, on one core",
          .headline = Metric::Throughput,
          .candidates = {candidate({.name = "re2", .title = "RE2", .note = "the one-line rule, on each line"},
                                   kTextBytes, [](const Input& all) { return count_with_re2(all.pattern, all.text); }),
                         candidate({.name = "whole", .title = "grammar, whole text", .own = true}, kTextBytes,
                                   [](const Input& all) { return commands::extract(all.text).size(); }),
                         candidate({.name = "4k", .title = "grammar, chunks of 4 KB", .own = true}, kTextBytes,
                                   [](const Input& all) { return count_in_chunks(all.text, 4'096); }),
                         candidate({.name = "64", .title = "grammar, chunks of 64 B", .own = true}, kTextBytes,
                                   [](const Input& all) { return count_in_chunks(all.text, 64); }),
                         candidate({.name = "screen", .title = "screen: unwrap and grammar", .own = true}, kRowsBytes,
                                   [](const Input& all) { return commands::extract_from_screen(all.rows).size(); }),
                         candidate({.name = "detector", .title = "detector, all patterns", .own = true}, kRowsBytes,
                                   find_limits)},
          .yardsticks = {"re2"}};
}

}  // namespace relay::bench
