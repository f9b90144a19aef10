#include "base/json.h"

#include "report/results.h"

namespace relay::bench {
namespace {

json::object metrics_of(const Results& results, const Workload& work, const std::string& variant,
                        const Traits& subject) {
  json::object metrics;
  for (const auto& row : kMetrics) {
    const auto summary = results.summary(work, variant, subject, row.metric);
    if (!summary) continue;
    json::array rounds;
    for (const auto value : results.rounds(work, variant, subject, row.metric)) rounds.emplace_back(value);
    metrics[row.name] = json::object{{"median", summary->median}, {"spread", summary->spread}, {"rounds", rounds}};
  }
  return metrics;
}

json::object described(const Traits& subject) {
  return {{"name", subject.name},
          {"title", subject.title},
          {"guarantee", title_of(subject.guarantee)},
          {"note", subject.note}};
}

json::object variant_of(const Results& results, const Workload& work, const std::string& variant) {
  json::object subjects;
  for (const auto& subject : results.subjects(work))
    if (auto metrics = metrics_of(results, work, variant, subject); !metrics.empty())
      subjects[subject.name] = std::move(metrics);
  return {{"variant", variant}, {"subjects", std::move(subjects)}};
}

}  // namespace

std::string json_of(const Results& results, const std::string& circumstances) {
  json::array subjects, works;
  for (const auto& subject : results.subjects()) subjects.push_back(described(subject));
  for (const auto& work : results.work()) {
    json::array variants;
    for (const auto& variant : results.variants(work)) variants.push_back(variant_of(results, work, variant));
    json::object notes;
    json::array candidates;
    for (const auto& candidate : work.candidates) candidates.push_back(described(candidate.traits));
    for (const auto& subject : results.subjects(work))
      if (const auto text = results.notes_on(work, subject); !text.empty()) notes[subject.name] = text;
    works.push_back(json::object{{"name", work.name},
                                 {"title", work.title},
                                 {"headline", row_of(work.headline).name},
                                 {"candidates", std::move(candidates)},
                                 {"variants", std::move(variants)},
                                 {"remarks", std::move(notes)}});
  }
  return json::serialize(
      json::object{{"circumstances", circumstances}, {"subjects", std::move(subjects)}, {"work", std::move(works)}});
}

}  // namespace relay::bench
