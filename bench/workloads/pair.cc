#include "workloads/pair.h"

#include <array>

namespace relay::bench {

Result<Pair> Pair::at(const Subject& subject) {
  auto running = RELAY_TRY(subject.start());
  return at(std::move(running));
}

Result<Pair> Pair::at(std::unique_ptr<RunningServer> running) {
  const std::array seats{Seat{.name = "Alice", .role = Role::Sender, .sends_to = "Bob"},
                         Seat{.name = "Bob", .role = Role::Receiver}};
  Pair pair{.running = std::move(running), .endpoints = {}, .driver = {}};
  pair.endpoints = RELAY_TRY(pair.running->open(seats));
  pair.driver = std::make_unique<Driver>(RELAY_TRY(Driver::over(pair.endpoints)));
  return pair;
}

void ServerCost::add_to(std::vector<Measurement>& measurements, std::size_t messages) const {
  const auto after = server_.usage();
  const auto used = after.cpu_seconds - before_.cpu_seconds;
  measurements.push_back({Metric::CpuPerMillion, used / static_cast<double>(messages) * 1e6});
  if (after.peak_memory_kib > 0) measurements.push_back({Metric::PeakMemory, after.peak_memory_kib / 1024});
}

}  // namespace relay::bench
