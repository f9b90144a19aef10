#include "comparison.h"

#include <sstream>

#include "base/format.h"

namespace relay::cost {
namespace {

constexpr std::string_view kRecordCommand = "tests/instruction_count/run --record";

const double* count_of(const Counts& counts, std::string_view path) {
  const auto found = counts.find(path);
  return found == counts.end() ? nullptr : &found->second;
}

std::string row(std::string_view path, std::string_view counted, std::string_view recorded, std::string_view ratio,
                std::string_view unit) {
  return format("{:<10} {:>9} {:>9} {:>6}  {}\n", path, counted, recorded, ratio, unit);
}

int percent(double share) { return static_cast<int>(share * 100 + 0.5); }

}  // namespace

Result<Recorded> read_recorded(std::string_view text) {
  Recorded recorded;
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    std::istringstream words{line};
    std::string name;
    double count = 0;
    words >> name;
    if (name == "built")
      std::getline(words >> std::ws, recorded.built);
    else if (words >> count && count > 0)
      recorded.counts[name] = count;
    else
      return fail(format("'{}' is no recorded count", line));
  }
  if (recorded.built.empty()) return fail("the file has no line 'built' with the compiler");
  return recorded;
}

std::string write_recorded(std::span<const Path> paths, const Recorded& recorded) {
  std::string text = format("# Instructions, written by: {}\nbuilt {}\n", kRecordCommand, recorded.built);
  for (const auto& path : paths)
    if (const auto* count = count_of(recorded.counts, path.name)) text += format("{} {:.2f}\n", path.name, *count);
  return text;
}

Result<Counts> read_measured(std::string_view text) {
  Counts counts;
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string name;
    double units = 0, instructions = 0;
    if (!(words >> name >> units >> instructions) || units <= 0 || instructions <= 0)
      return fail(format("nothing was counted: '{}'", line));
    counts[name] = instructions / units;
  }
  return counts;
}

Comparison compare(std::span<const Path> paths, const Counts& measured, const Counts& recorded) {
  Comparison comparison{
      .table = row("path", "counted", "recorded", "ratio", "instructions per"), .regressions = {}, .improvements = {}};
  for (const auto& path : paths) {
    const auto* now = count_of(measured, path.name);
    if (now == nullptr) continue;
    const auto unit = format("{}: {}", path.unit, path.description);
    const auto* before = count_of(recorded, path.name);
    if (before == nullptr) {
      comparison.table += row(path.name, format("{:.1f}", *now), "-", "-", unit);
      comparison.regressions.push_back(format("{} is not recorded; record it with: {}", path.name, kRecordCommand));
      continue;
    }
    const auto ratio = *now / *before;
    comparison.table +=
        row(path.name, format("{:.1f}", *now), format("{:.1f}", *before), format("{:.2f}", ratio), unit);
    if (ratio > 1 + path.allowed)
      comparison.regressions.push_back(
          format("{} needs {} % more instructions per {} than recorded (allowed: {} %); if that is intended, record it "
                 "with: {}",
                 path.name, percent(ratio - 1), path.unit, percent(path.allowed), kRecordCommand));
    else if (ratio < 1 - path.allowed)
      comparison.improvements.push_back(format("{} needs {} % fewer instructions than recorded; record it with: {}",
                                               path.name, percent(1 - ratio), kRecordCommand));
  }
  return comparison;
}

}  // namespace relay::cost
