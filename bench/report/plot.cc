#include <algorithm>

#include "report/results.h"
#include "report/svg.h"

namespace relay::bench {
namespace {

/// The plots of the page, in order. Workloads that were not run are omitted.
struct PlotSpec {
  std::string_view work, variant;
  Metric metric;
  std::optional<Metric> mark;
  std::string_view title, unit;
};

constexpr PlotSpec kBars[] = {
    {"sequential", "1 KB", Metric::DeliverP50, Metric::DeliverP99, "1 KB delivered, median | p99", "µs"},
    {"sequential", "1 KB", Metric::ConfirmP50, Metric::ConfirmP99, "1 KB confirmed, median | p99", "µs"},
    {"windowed", "1 KB", Metric::Rate, std::nullopt, "1 KB, one to one", "messages/s"},
    {"windowed", "1 KB", Metric::CpuPerMillion, std::nullopt, "1 KB, one to one: CPU of the server", "µs a message"},
    {"fan-in", "", Metric::Rate, std::nullopt, "a hundred to one", "messages/s"},
    {"pairs", "", Metric::Rate, std::nullopt, "a thousand pairs", "messages/s"},
    {"broadcast", "", Metric::Rate, std::nullopt, "one to a thousand", "deliveries/s"},
    {"broadcast", "", Metric::CpuPerMillion, std::nullopt, "one to a thousand: CPU of the server", "µs a delivery"},
    {"backlog", "", Metric::DrainRate, std::nullopt, "stored messages, drained", "messages/s"},
    {"fairness", "", Metric::ConfirmP99, std::nullopt, "a paced pair's p99, confirmed", "µs"},
    {"pipeline", "a flood", Metric::Throughput, std::nullopt, "an agent's output read: a flood of lines", "MB/s"},
    {"pipeline", "recordings of claude", Metric::Throughput, std::nullopt, "an agent's output read: recordings",
     "MB/s"},
    {"keystroke", "", Metric::KeyP50, Metric::KeyP99, "a key and its echo, median | p99", "µs"},
    {"feed", "", Metric::CpuPerMillion, std::nullopt, "events to a thousand readers: CPU", "µs an event"},
    {"resume", "", Metric::DeliverP50, Metric::DeliverP99, "reconnect to first message | p99", "µs"},
};

constexpr PlotSpec kCurves[] = {
    {"agents", "", Metric::CpuPerMillion, std::nullopt, "agent-relay, more agents connected: CPU", "µs a message"},
    {"history", "", Metric::CpuPerMillion, std::nullopt, "agent-relay, longer history: CPU", "µs a message"},
    {"agents", "", Metric::DeliverP50, std::nullopt, "agent-relay, more agents connected: delivered, median", "µs"},
    {"history", "", Metric::DeliverP50, std::nullopt, "agent-relay, longer history: delivered, median", "µs"},
};

const Workload* find_workload(const Results& results, std::string_view name) {
  const auto found = std::ranges::find(results.work(), name, &Workload::name);
  return found == results.work().end() ? nullptr : &*found;
}

Kind kind_of(const Workload& work, const Traits& subject) {
  if (subject.name == work.yardsticks.front()) return Kind::Floor;
  return subject.own ? Kind::Own : Kind::Other;
}

BarPlot bars_of(const Results& results, const Workload& work, const std::string& variant, const PlotSpec& spec) {
  BarPlot plot{.title = std::string{spec.title}, .unit = std::string{spec.unit}, .bars = {}};
  for (const auto& subject : results.subjects(work)) {
    const auto value = results.summary(work, variant, subject, spec.metric);
    if (!value) continue;
    Bar bar{.label = subject.title, .value = value->median, .mark = {}, .kind = kind_of(work, subject)};
    if (spec.mark)
      if (const auto mark = results.summary(work, variant, subject, *spec.mark)) bar.mark = mark->median;
    plot.bars.push_back(std::move(bar));
  }
  std::ranges::sort(plot.bars, [&](const Bar& one, const Bar& other) {
    return times_better(spec.metric, one.value, other.value) > 1;
  });
  return plot;
}

Curve curve_of(const Results& results, const Workload& work, const PlotSpec& spec) {
  Curve curve{.title = std::string{spec.title}, .unit = std::string{spec.unit}, .points = {}};
  for (const auto& variant : results.variants(work))
    for (const auto& subject : results.subjects(work))
      if (const auto value = results.summary(work, variant, subject, spec.metric))
        curve.points.push_back({.label = variant, .value = value->median});
  return curve;
}

}  // namespace

std::string plot_of(const Results& results) {
  std::vector<BarPlot> plots;
  for (const auto& spec : kBars)
    if (const auto* work = find_workload(results, spec.work))
      for (const auto& variant : results.variants(*work))
        if (spec.variant.empty() || spec.variant == variant) {
          auto plot = bars_of(results, *work, variant, spec);
          if (!plot.bars.empty()) plots.push_back(std::move(plot));
        }
  std::vector<Curve> curves;
  for (const auto& spec : kCurves)
    if (const auto* work = find_workload(results, spec.work)) {
      auto curve = curve_of(results, *work, spec);
      if (!curve.points.empty()) curves.push_back(std::move(curve));
    }
  return svg_page("agent-relay beside other servers, one run on one machine; bars on logarithmic scales, best first",
                  plots, curves);
}

}  // namespace relay::bench
