/// Hosts with agents and typing users beside the daemon and the store, in one thread on a virtual clock; every choice
/// is drawn from one seed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/testing/temporary_directory.h"
#include "tests/simulation/operator.h"
#include "tests/simulation/sim_client.h"
#include "tests/simulation/sim_daemon.h"
#include "tests/simulation/sim_host.h"

namespace relay::simulation {

struct HostOutcome {
  std::optional<std::string> violation;
  std::uint64_t trace_hash = 0;
  std::uint64_t steps = 0;
  std::uint64_t sent = 0;
  std::uint64_t daemon_deaths = 0;
  SimHostCounts hosts = {};             // of all hosts together
  std::array<std::uint64_t, 9> ends{};  // deliveries to hosts by their state at the end
};

class HostSimulation {
 public:
  HostSimulation(std::uint64_t seed, Trace::Mode trace);
  ~HostSimulation();

  HostOutcome run();

 private:
  [[nodiscard]] bool chance(std::uint64_t in_hundred) { return random_.below(100) < in_hundred; }
  [[nodiscard]] Nanos within(Nanos span) { return Nanos{random_.below(static_cast<std::uint64_t>(span.count()) + 1)}; }
  FaultPlan draw_faults();
  DaemonPlan draw_daemon();
  SimHostPlan draw_host(std::size_t index);
  void plan();
  void inject_fault();
  void act_as_operator();
  void heal();
  void undo_holds();
  bool step(SteadyTime until);
  bool run_until_settled();
  [[nodiscard]] bool is_settled() const;
  [[nodiscard]] std::string unsettled() const;
  void check_deliveries();

  SeededRandom random_;
  VirtualLoop loop_;
  Trace trace_;
  FaultPlan faults_;
  HistoryChecker checker_{trace_, loop_};
  SimNetwork network_{loop_, random_, faults_, trace_};
  net::testing::TemporaryDirectory directory_;
  std::unique_ptr<SimDaemon> daemon_;
  std::vector<std::unique_ptr<SimClient>> senders_;
  std::vector<std::unique_ptr<SimHost>> hosts_;
  std::unique_ptr<Operator> operator_;
  std::uint64_t steps_ = 0;
  bool host_faults_ = false;
  bool recovering_ = false;
};

}  // namespace relay::simulation
