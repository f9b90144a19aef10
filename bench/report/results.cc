#include "report/results.h"

#include <algorithm>

#include "figures.h"

namespace relay::bench {

void Results::add(const Workload& work, const Traits& subject, const std::vector<Outcome>& outcomes) {
  for (const auto& outcome : outcomes) {
    auto& variants = variants_[work.name];
    if (std::ranges::find(variants, outcome.variant) == variants.end()) variants.push_back(outcome.variant);
    for (const auto& measurement : outcome.measurements)
      values_[{work.name, outcome.variant, subject.name, measurement.metric}].push_back(measurement.value);
  }
}

void Results::add_note(const Workload& work, const Traits& subject, std::string text) {
  notes_[{work.name, subject.name}] = std::move(text);
}

std::vector<Traits> Results::subjects(const Workload& work) const {
  if (work.candidates.empty()) return subjects_;
  std::vector<Traits> own;
  for (const auto& candidate : work.candidates) own.push_back(candidate.traits);
  return own;
}

std::vector<std::string> Results::variants(const Workload& work) const {
  const auto found = variants_.find(work.name);
  return found == variants_.end() ? std::vector<std::string>{} : found->second;
}

std::vector<double> Results::rounds(const Workload& work, const std::string& variant, const Traits& subject,
                                    Metric metric) const {
  const auto found = values_.find({work.name, variant, subject.name, metric});
  return found == values_.end() ? std::vector<double>{} : found->second;
}

std::optional<Summary> Results::summary(const Workload& work, const std::string& variant, const Traits& subject,
                                        Metric metric) const {
  const auto values = rounds(work, variant, subject, metric);
  if (values.empty()) return std::nullopt;
  const auto [min, max] = std::ranges::minmax(values);
  const auto median = quantile(values, 0.5);
  return Summary{.median = median, .spread = median > 0 ? (max - min) / (2 * median) : 0};
}

std::string Results::notes_on(const Workload& work, const Traits& subject) const {
  const auto found = notes_.find({work.name, subject.name});
  return found == notes_.end() ? std::string{} : found->second;
}

double times_better(Metric metric, double value, double than) {
  return row_of(metric).better == Better::Lower ? than / value : value / than;
}

}  // namespace relay::bench
