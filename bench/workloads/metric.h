/// The metrics of tables, JSON and plots.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace relay::bench {

enum class Metric {
  DeliverP50,
  DeliverP99,
  DeliverP999,
  ConfirmP50,
  ConfirmP99,
  ConfirmP999,
  KeyP50,
  KeyP99,
  Throughput,
  Rate,
  StoreRate,
  DrainRate,
  FirstUs,
  StartP50,
  StartP99,
  IdleCpu,
  MemoryPerAgent,
  CpuPerMegabyte,
  CpuPerMillion,
  PeakMemory,
};

enum class Better { Lower, Higher };

struct MetricRow {
  Metric metric;
  std::string_view name;   // key in the JSON
  std::string_view title;  // column title
  std::string_view unit;
  Better better;
};

inline constexpr MetricRow kMetrics[] = {
    {Metric::DeliverP50, "deliver_p50_us", "p50", "us", Better::Lower},
    {Metric::DeliverP99, "deliver_p99_us", "p99", "us", Better::Lower},
    {Metric::DeliverP999, "deliver_p999_us", "p99.9", "us", Better::Lower},
    {Metric::ConfirmP50, "confirm_p50_us", "conf. p50", "us", Better::Lower},
    {Metric::ConfirmP99, "confirm_p99_us", "conf. p99", "us", Better::Lower},
    {Metric::ConfirmP999, "confirm_p999_us", "conf. p99.9", "us", Better::Lower},
    {Metric::KeyP50, "key_p50_us", "key p50", "us", Better::Lower},
    {Metric::KeyP99, "key_p99_us", "key p99", "us", Better::Lower},
    {Metric::Throughput, "megabytes_per_second", "output", "MB/s", Better::Higher},
    {Metric::Rate, "messages_per_second", "rate", "1/s", Better::Higher},
    {Metric::StoreRate, "stored_per_second", "stored", "1/s", Better::Higher},
    {Metric::DrainRate, "drained_per_second", "drained", "1/s", Better::Higher},
    {Metric::FirstUs, "first_us", "first", "us", Better::Lower},
    {Metric::StartP50, "start_p50_ms", "p50", "ms", Better::Lower},
    {Metric::StartP99, "start_p99_ms", "p99", "ms", Better::Lower},
    {Metric::IdleCpu, "idle_cpu_percent", "CPU", "% core", Better::Lower},
    {Metric::MemoryPerAgent, "memory_per_agent_kib", "each", "KiB", Better::Lower},
    {Metric::CpuPerMegabyte, "cpu_ms_per_megabyte", "CPU/MB", "ms", Better::Lower},
    {Metric::CpuPerMillion, "cpu_seconds_per_million", "CPU/1M", "s", Better::Lower},
    {Metric::PeakMemory, "peak_memory_mib", "memory", "MiB", Better::Lower},
};

constexpr const MetricRow& row_of(Metric metric) { return kMetrics[static_cast<std::size_t>(metric)]; }

struct Measurement {
  Metric metric;
  double value;
};

/// The result of one round of a workload for one subject and one variant ("1 KB").
struct Outcome {
  std::string variant;
  std::vector<Measurement> measurements;
};

}  // namespace relay::bench
