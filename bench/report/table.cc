#include "base/format.h"
#include "report/numbers.h"
#include "report/results.h"

namespace relay::bench {
namespace {

/// The metrics that somebody has, in the order of the list.
std::vector<Metric> columns(const Results& results, const Work& work, const std::string& variant) {
  std::vector<Metric> columns;
  for (const auto& row : kMetrics)
    for (const auto& subject : results.subjects())
      if (!results.rounds(work, variant, subject, row.metric).empty()) {
        columns.push_back(row.metric);
        break;
      }
  return columns;
}

const Traits* subject_named(const Results& results, std::string_view name) {
  for (const auto& subject : results.subjects())
    if (subject.name == name) return &subject;
  return nullptr;
}

/// How many times better that subject is than this one: "-" where one of them was not measured.
std::string ratio(const Results& results, const Work& work, const std::string& variant, std::string_view better,
                  const Traits& than) {
  const auto* subject = subject_named(results, better);
  const auto theirs = results.summary(work, variant, than, work.headline);
  const auto its = subject ? results.summary(work, variant, *subject, work.headline) : std::nullopt;
  if (!theirs || !its || than.name == better) return "-";
  return three_figures(times_better(work.headline, its->median, theirs->median));
}

void add_table(std::string& text, const Results& results, const Work& work, const std::string& variant) {
  const auto metrics = columns(results, work, variant);
  text += relay::format("\n{}: {}, {}\n\n{:26} {:>8}", work.name, work.title, variant, "", "promise");
  for (const auto metric : metrics) text += relay::format(" {:>11}", row_of(metric).title);
  text += relay::format(" {:>7} {:>7}", "spread", "floor");
  for (const auto ours : kOurs) text += relay::format(" {:>8}", ours);
  text += relay::format("\n{:26} {:>8}", "", "");
  for (const auto metric : metrics) text += relay::format(" {:>11}", row_of(metric).unit);
  text += relay::format(" {:>7} {:>7} {:>8} {:>8} {:>8}\n", "", "x", "x", "x", "x");
  for (const auto& subject : results.subjects()) {
    if (results.rounds(work, variant, subject, work.headline).empty()) continue;
    text += relay::format("{:26} {:>8}", subject.title, title_of(subject.promise));
    for (const auto metric : metrics) {
      const auto summary = results.summary(work, variant, subject, metric);
      text += relay::format(" {:>11}", summary ? three_figures(summary->median) : "-");
    }
    const auto headline = results.summary(work, variant, subject, work.headline);
    text += relay::format(" {:>6.0f}% {:>7}", headline->spread * 100, ratio(results, work, variant, "floor", subject));
    for (const auto ours : kOurs) text += relay::format(" {:>8}", ratio(results, work, variant, ours, subject));
    text += "\n";
  }
}

/// Work about one subject alone: its variants below each other, nothing to compare with.
void add_table_of_one(std::string& text, const Results& results, const Work& work, const Traits& subject) {
  const auto variants = results.variants(work);
  if (variants.empty()) return;
  const auto metrics = columns(results, work, variants.front());
  text += relay::format("\n{}: {} ({})\n\n{:30}", work.name, work.title, subject.title, "");
  for (const auto metric : metrics) text += relay::format(" {:>11}", row_of(metric).title);
  text += relay::format(" {:>7}\n{:30}", "spread", "");
  for (const auto metric : metrics) text += relay::format(" {:>11}", row_of(metric).unit);
  text += "\n";
  for (const auto& variant : variants) {
    text += relay::format("{:30}", variant);
    for (const auto metric : metrics) {
      const auto summary = results.summary(work, variant, subject, metric);
      text += relay::format(" {:>11}", summary ? three_figures(summary->median) : "-");
    }
    const auto headline = results.summary(work, variant, subject, work.headline);
    text += relay::format(" {:>6.0f}%\n", headline ? headline->spread * 100 : 0);
  }
}

}  // namespace

std::string table_of(const Results& results) {
  std::string text;
  for (const auto& work : results.work()) {
    if (const auto* alone = subject_named(results, work.alone); !work.alone.empty()) {
      if (alone) add_table_of_one(text, results, work, *alone);
    } else {
      for (const auto& variant : results.variants(work)) add_table(text, results, work, variant);
    }
    for (const auto& subject : results.subjects())
      if (const auto words = results.remark_on(work, subject); !words.empty())
        text += relay::format("{}: {}\n", subject.title, words);
  }
  text += "\nWhat the subjects are:\n";
  for (const auto& subject : results.subjects())
    if (!subject.note.empty()) text += relay::format("  {:26} {}\n", subject.title, subject.note);
  return text;
}

}  // namespace relay::bench
