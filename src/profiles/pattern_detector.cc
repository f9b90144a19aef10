#include "profiles/pattern_detector.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <array>

#include "base/format.h"
#include "commands/line_shape.h"

namespace relay::profiles {
namespace {

constexpr std::array<std::string_view, 7> kFrames = {"│", "┃", "║", "▌", "▐", "╎", "|"};
constexpr std::int64_t kPatternMemoryBytes = 8 << 20;
constexpr int kMaxGroups = 16;

RE2::Options re2_options() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemoryBytes);
  return options;
}

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct PatternDetector::Compiled {
  struct Rule {
    Pattern pattern;
    std::unique_ptr<RE2> regex;
    std::map<int, std::string> groups;
  };

  Compiled() : set{re2_options(), RE2::UNANCHORED} {}

  std::vector<Rule> rules;
  RE2::Set set;
};

PatternDetector::PatternDetector(std::unique_ptr<const Compiled> compiled) : compiled_{std::move(compiled)} {}
PatternDetector::PatternDetector(PatternDetector&&) noexcept = default;
PatternDetector& PatternDetector::operator=(PatternDetector&&) noexcept = default;
PatternDetector::~PatternDetector() = default;

Result<PatternDetector> PatternDetector::compile(std::span<const Pattern> patterns) {
  if (patterns.size() > kMaxPatterns) return fail(relay::format("more than {} patterns", kMaxPatterns));
  auto compiled = std::make_unique<Compiled>();
  for (const auto& pattern : patterns) {
    auto regex = std::make_unique<RE2>(piece(pattern.regex), re2_options());
    if (!regex->ok()) return fail(relay::format("invalid pattern {}: {}", pattern.name, regex->error()));
    if (regex->NumberOfCapturingGroups() >= kMaxGroups)
      return fail(relay::format("pattern {} has more than {} groups", pattern.name, kMaxGroups - 1));
    std::string why;
    if (compiled->set.Add(piece(pattern.regex), &why) < 0)
      return fail(relay::format("invalid pattern {}: {}", pattern.name, why));
    auto groups = regex->CapturingGroupNames();
    compiled->rules.push_back({pattern, std::move(regex), std::move(groups)});
  }
  if (!patterns.empty() && !compiled->set.Compile()) return fail("the patterns together need too much memory");
  return PatternDetector{std::move(compiled)};
}

std::vector<Match> PatternDetector::matches(std::span<const std::string> rows) const {
  std::vector<Match> found;
  if (compiled_->rules.empty()) return found;
  std::vector<int> hits;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto text = without_frame(std::string_view{rows[row]}.substr(0, kMaxRowBytes));
    if (text.empty()) continue;
    hits.clear();
    if (!compiled_->set.Match(piece(text), &hits)) continue;
    std::ranges::sort(hits);
    for (const int hit : hits) {
      const auto& rule = compiled_->rules[static_cast<std::size_t>(hit)];
      std::array<re2::StringPiece, kMaxGroups> groups;
      const int count = rule.regex->NumberOfCapturingGroups() + 1;
      if (!rule.regex->Match(piece(text), 0, text.size(), RE2::UNANCHORED, groups.data(), count)) continue;
      Match match{.role = rule.pattern.role, .pattern = rule.pattern.name, .row = row, .captures = {}};
      for (const auto& [index, name] : rule.groups) {
        const auto& group = groups[static_cast<std::size_t>(index)];
        if (group.data() != nullptr) match.captures.emplace(name, std::string{group.data(), group.size()});
      }
      found.push_back(std::move(match));
    }
  }
  return found;
}

std::string_view without_frame(std::string_view row) {
  bool changed = true;
  while (changed) {
    changed = false;
    row = commands::trimmed(row);
    for (const auto frame : kFrames) {
      if (row.starts_with(frame)) {
        row.remove_prefix(frame.size());
        changed = true;
      }
      if (row.ends_with(frame)) {
        row.remove_suffix(frame.size());
        changed = true;
      }
    }
  }
  return row;
}

}  // namespace relay::profiles
