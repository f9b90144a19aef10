/// Measurements by workload, variant, subject and metric, one number per round.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "subjects/subject.h"
#include "workloads/workload.h"

namespace relay::bench {

/// The median of the rounds, and their spread: (largest - smallest) / (2 * median).
struct Summary {
  double median = 0;
  double spread = 0;
};

class Results {
 public:
  Results(std::vector<Workload> work, std::vector<Traits> subjects)
      : work_{std::move(work)}, subjects_{std::move(subjects)} {}

  void add(const Workload& work, const Traits& subject, const std::vector<Outcome>& outcomes);
  /// Notes why numbers are missing.
  void add_note(const Workload& work, const Traits& subject, std::string text);

  [[nodiscard]] const std::vector<Workload>& work() const { return work_; }
  [[nodiscard]] const std::vector<Traits>& subjects() const { return subjects_; }
  /// The subjects of the workload: its candidates, or all.
  [[nodiscard]] std::vector<Traits> subjects(const Workload& work) const;
  /// In order of measurement.
  [[nodiscard]] std::vector<std::string> variants(const Workload& work) const;
  /// Empty when it was not measured.
  [[nodiscard]] std::vector<double> rounds(const Workload& work, const std::string& variant, const Traits& subject,
                                           Metric metric) const;
  [[nodiscard]] std::optional<Summary> summary(const Workload& work, const std::string& variant, const Traits& subject,
                                               Metric metric) const;
  [[nodiscard]] std::string notes_on(const Workload& work, const Traits& subject) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string, Metric>;  // work, variant, subject

  std::vector<Workload> work_;
  std::vector<Traits> subjects_;
  std::map<Key, std::vector<double>> values_;
  std::map<std::string, std::vector<std::string>> variants_;
  std::map<std::pair<std::string, std::string>, std::string> notes_;
};

/// The ratio of the first to the second, by the metric's direction.
double times_better(Metric metric, double value, double than);

// `circumstances` describes the machine and the options of the run.
/// The tables as plain text and as Markdown.
std::string table_of(const Results& results, const std::string& circumstances);
std::string markdown_of(const Results& results, const std::string& circumstances);
/// Everything, with every round, as JSON.
std::string json_of(const Results& results, const std::string& circumstances);
/// A summary as an SVG page.
std::string plot_of(const Results& results);

}  // namespace relay::bench
