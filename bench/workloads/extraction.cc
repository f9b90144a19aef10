/// Throughput of command extraction: text through the grammar, whole and in pieces; screen rows through unwrapping and
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

std::size_t count_in_pieces(std::string_view text, std::size_t piece) {
  commands::Extractor extractor;
  std::size_t found = 0;
  while (!text.empty()) {
    found += extractor.feed(text.substr(0, piece)).size();
    text.remove_prefix(std::min(piece, text.size()));
  }
  return found + extractor.finish().size();
}

std::vector<commands::ScreenLine> drawn(std::string_view text, std::size_t width) {
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

struct Material {
  std::string text = agent_like_text(kTextBytes);
  std::vector<commands::ScreenLine> rows = drawn(std::string_view{text}.substr(0, kRowsBytes), kRowWidth);
  std::vector<std::string> plain_rows = {};
  RE2 pattern{R"(^(?:\s*(?:[>$%#→➜›»●•◦‣⁃\-*⏺◆◇○□■]\s*)*)?@relay:(\S+)\s+(.+)$)"};
  Result<profiles::PatternDetector> detector = profiles::PatternDetector::compile(profiles::default_patterns());

  Material() {
    for (const auto& row : rows) plain_rows.push_back(row.text);
  }
};

/// The text matches none, so all patterns are tried on every row.
std::size_t find_limits(const Material& all) { return detect(*all.detector, all.plain_rows).limits.size(); }

/// Reads the input once and returns the number of matches.
Candidate heard_by(Traits traits, std::size_t bytes, std::size_t (*listen)(const Material&)) {
  return {
      .traits = std::move(traits), .run = [bytes, listen](const Scale&) -> Result<std::vector<Outcome>> {
        static const Material material;
        if (!material.pattern.ok() || !material.detector) return fail("a pattern cannot be read");
        std::size_t found = 0;
        const auto seconds = processor_seconds([&] { found = listen(material); });
        if (found == 0 && listen != find_limits) return fail("nothing was extracted");
        return std::vector{Outcome{.variant = "agent-like text",
                                   .measurements = {{Metric::Throughput, static_cast<double>(bytes) / 1e6 / seconds}}}};
      }};
}

}  // namespace

Workload extraction_work() {
  return {
      .name = "speech",
      .title = "relay commands extracted from agent output, on one core",
      .headline = Metric::Throughput,
      .candidates = {heard_by({.name = "re2", .title = "RE2", .note = "the one-line rule, on each line"}, kTextBytes,
                              [](const Material& all) { return count_with_re2(all.pattern, all.text); }),
                     heard_by({.name = "whole", .title = "grammar, whole text", .ours = true}, kTextBytes,
                              [](const Material& all) { return commands::extract(all.text).size(); }),
                     heard_by({.name = "4k", .title = "grammar, pieces of 4 KB", .ours = true}, kTextBytes,
                              [](const Material& all) { return count_in_pieces(all.text, 4'096); }),
                     heard_by({.name = "64", .title = "grammar, pieces of 64 B", .ours = true}, kTextBytes,
                              [](const Material& all) { return count_in_pieces(all.text, 64); }),
                     heard_by({.name = "screen", .title = "screen: unwrap and grammar", .ours = true}, kRowsBytes,
                              [](const Material& all) { return commands::extract_from_screen(all.rows).size(); }),
                     heard_by({.name = "detector", .title = "detector, all patterns", .ours = true}, kRowsBytes,
                              find_limits)},
      .yardsticks = {"re2"}};
}

}  // namespace relay::bench
