/// The CPU and memory cost of a thousand idle agents.
#include "base/format.h"
#include "subjects/agent_relay.h"
#include "workloads/driver.h"
#include "workloads/workload.h"

namespace relay::bench {
namespace {

constexpr int kAgents = 1'000;
constexpr auto kSettle = std::chrono::milliseconds{500};

Result<std::vector<Outcome>> run_idle(const Subject&, const Scale& scale) {
  const auto running = RELAY_TRY(start_agent_relay(scale.program, {.heartbeat_ms = "5000"}));  // the default for users
  std::vector<Seat> seats;
  for (int i = 0; i < kAgents; ++i) seats.push_back({.name = relay::format("Agent{}", i)});
  const auto empty = running->server().usage();
  const auto endpoints = RELAY_TRY(running->open(seats));
  auto driver = RELAY_TRY(Driver::over(endpoints));
  RELAY_TRY(driver.idle(kSettle));
  const auto before = running->server().usage();
  RELAY_TRY(driver.idle(std::chrono::milliseconds{static_cast<int>(scale.idle_seconds * 1e3)}));
  const auto after = running->server().usage();
  return std::vector{Outcome{.variant = relay::format("{} agents", kAgents),
                             .measurements = {
                                 {Metric::IdleCpu, (after.cpu_seconds - before.cpu_seconds) / scale.idle_seconds * 100},
                                 {Metric::MemoryPerAgent, (after.memory_kib - empty.memory_kib) / kAgents},
                                 {Metric::PeakMemory, after.peak_memory_kib / 1024},
                             }}};
}

}  // namespace

Workload idle_work() {
  return {.name = "idle",
          .title = "agent-relay only: connected, idle except for heartbeats",
          .headline = Metric::MemoryPerAgent,
          .unfit_reason = only_for("power"),
          .run = run_idle,
          .only_subject = "power",
          .max_rounds = 2};
}

}  // namespace relay::bench
