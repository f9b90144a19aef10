/// What was measured, as values: by work, variant of the work, subject and metric, one number for each round.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "subjects/subject.h"
#include "workloads/workload.h"

namespace relay::bench {

/// The middle of the rounds, and how far they lie apart: (largest - smallest) / (2 * middle).
struct Summary {
  double median = 0;
  double spread = 0;
};

class Results {
 public:
  Results(std::vector<Workload> work, std::vector<Traits> subjects)
      : work_{std::move(work)}, subjects_{std::move(subjects)} {}

  void add(const Workload& work, const Traits& subject, const std::vector<Outcome>& outcomes);
  /// Why there are no numbers, or fewer.
  void remark(const Workload& work, const Traits& subject, std::string words);

  [[nodiscard]] const std::vector<Workload>& work() const { return work_; }
  [[nodiscard]] const std::vector<Traits>& subjects() const { return subjects_; }
  /// Who does that work: its own candidates, or everybody.
  [[nodiscard]] std::vector<Traits> subjects(const Workload& work) const;
  /// In the order they came.
  [[nodiscard]] std::vector<std::string> variants(const Workload& work) const;
  /// Empty where it was not measured.
  [[nodiscard]] std::vector<double> rounds(const Workload& work, const std::string& variant, const Traits& subject,
                                           Metric metric) const;
  [[nodiscard]] std::optional<Summary> summary(const Workload& work, const std::string& variant, const Traits& subject,
                                               Metric metric) const;
  [[nodiscard]] std::string remark_on(const Workload& work, const Traits& subject) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string, Metric>;  // work, variant, subject

  std::vector<Workload> work_;
  std::vector<Traits> subjects_;
  std::map<Key, std::vector<double>> values_;
  std::map<std::string, std::vector<std::string>> variants_;
  std::map<std::pair<std::string, std::string>, std::string> remarks_;
};

/// How many times better the first is, by the metric's direction.
double times_better(Metric metric, double value, double than);

// `circumstances` says where, when and how it was measured.
/// The tables, for a person at a terminal, and for a page.
std::string table_of(const Results& results, const std::string& circumstances);
std::string markdown_of(const Results& results, const std::string& circumstances);
/// All of it with every round, for a program.
std::string json_of(const Results& results, const std::string& circumstances);
/// The most telling of it as an SVG page.
std::string plot_of(const Results& results);

}  // namespace relay::bench
