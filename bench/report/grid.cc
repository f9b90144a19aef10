#include "report/grid.h"

#include <algorithm>

#include "base/format.h"
#include "report/numbers.h"

namespace relay::bench {
namespace {

/// The metrics that any subject has, in table order.
std::vector<Metric> columns(const Results& results, const Workload& work, const std::string& variant) {
  std::vector<Metric> columns;
  for (const auto& row : kMetrics)
    if (std::ranges::any_of(results.subjects(work), [&](const Traits& subject) {
          return !results.rounds(work, variant, subject, row.metric).empty();
        }))
      columns.push_back(row.metric);
  return columns;
}

std::optional<Traits> find_subject(const Results& results, const Workload& work, std::string_view name) {
  for (const auto& subject : results.subjects(work))
    if (subject.name == name) return subject;
  return std::nullopt;
}

/// The ratio of that subject to this one; "-" when one of them was not measured.
std::string ratio(const Results& results, const Workload& work, const std::string& variant, std::string_view better,
                  const Traits& than) {
  const auto subject = find_subject(results, work, better);
  const auto theirs = results.summary(work, variant, than, work.headline);
  const auto its = subject ? results.summary(work, variant, *subject, work.headline) : std::nullopt;
  if (!theirs || !its || than.name == better) return "-";
  return three_figures(times_better(work.headline, its->median, theirs->median));
}

void add_heads(Grid& grid, const std::vector<Metric>& metrics) {
  for (const auto metric : metrics)
    grid.head.push_back(relay::format("{} {}", row_of(metric).title, row_of(metric).unit));
  grid.head.push_back("spread");
}

/// The numbers of one subject, and the spread of the headline over the rounds.
void add_numbers(std::vector<std::string>& row, const Results& results, const Workload& work,
                 const std::string& variant, const Traits& subject, const std::vector<Metric>& metrics) {
  for (const auto metric : metrics) {
    const auto summary = results.summary(work, variant, subject, metric);
    row.push_back(summary ? three_figures(summary->median) : "-");
  }
  const auto headline = results.summary(work, variant, subject, work.headline);
  row.push_back(headline ? relay::format("{:.0f}%", headline->spread * 100) : "-");
}

Grid comparison(const Results& results, const Workload& work, const std::string& variant) {
  const auto metrics = columns(results, work, variant);
  Grid grid{
      .title = relay::format("{}: {}, {}", work.name, work.title, variant), .head = {""}, .rows = {}, .notes = {}};
  const bool servers = work.candidates.empty();
  if (servers) grid.head.push_back("guarantee");
  add_heads(grid, metrics);
  for (const auto& yardstick : work.yardsticks) grid.head.push_back(relay::format("{} x", yardstick));
  for (const auto& subject : results.subjects(work)) {
    if (results.rounds(work, variant, subject, work.headline).empty()) continue;
    std::vector<std::string> row{subject.title};
    if (servers) row.emplace_back(title_of(subject.guarantee));
    add_numbers(row, results, work, variant, subject, metrics);
    for (const auto& yardstick : work.yardsticks) row.push_back(ratio(results, work, variant, yardstick, subject));
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

Grid single_subject_grid(const Results& results, const Workload& work, const Traits& subject) {
  const auto variants = results.variants(work);
  const auto metrics = columns(results, work, variants.front());
  Grid grid{.title = relay::format("{}: {} ({})", work.name, work.title, subject.title),
            .head = {""},
            .rows = {},
            .notes = {}};
  add_heads(grid, metrics);
  for (const auto& variant : variants) {
    std::vector<std::string> row{variant};
    add_numbers(row, results, work, variant, subject, metrics);
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

}  // namespace

std::vector<Grid> grids_of(const Results& results) {
  std::vector<Grid> grids;
  for (const auto& work : results.work()) {
    const auto variants = results.variants(work);
    if (const auto subject = find_subject(results, work, work.only_subject); subject && !variants.empty())
      grids.push_back(single_subject_grid(results, work, *subject));
    else
      for (const auto& variant : variants) grids.push_back(comparison(results, work, variant));
    if (variants.empty())
      grids.push_back({.title = relay::format("{}: {}", work.name, work.title), .head = {}, .rows = {}, .notes = {}});
    for (const auto& subject : results.subjects(work))
      if (const auto text = results.notes_on(work, subject); !text.empty())
        grids.back().notes.push_back(relay::format("{}: {}", subject.title, text));
  }
  return grids;
}

std::string as_text(const Grid& grid) {
  auto text = relay::format("\n{}\n\n", grid.title);
  std::vector<std::size_t> widths(grid.head.size());
  const auto widen = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  };
  widen(grid.head);
  for (const auto& row : grid.rows) widen(row);
  const auto write = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i)
      text += i == 0 ? relay::format("{:{}}", row[i], widths[i]) : relay::format("  {:>{}}", row[i], widths[i]);
    text += "\n";
  };
  if (!grid.rows.empty()) write(grid.head);
  for (const auto& row : grid.rows) write(row);
  for (const auto& note : grid.notes) text += note + "\n";
  return text;
}

std::string as_markdown(const Grid& grid) {
  auto text = relay::format("\n### {}\n\n", grid.title);
  const auto write = [&](const std::vector<std::string>& row) {
    for (const auto& cell : row) text += relay::format("| {} ", cell);
    text += "|\n";
  };
  if (!grid.rows.empty()) {
    write(grid.head);
    for (std::size_t i = 0; i < grid.head.size(); ++i) text += i == 0 ? "|---" : "|---:";
    text += "|\n";
  }
  for (const auto& row : grid.rows) write(row);
  if (!grid.notes.empty()) text += "\n";
  for (const auto& note : grid.notes) text += relay::format("- {}\n", note);
  return text;
}

}  // namespace relay::bench
