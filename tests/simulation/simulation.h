/// The whole system in one thread on a virtual clock, every choice drawn from one seed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/bad_client.h"
#include "tests/simulation/operator.h"
#include "tests/simulation/sim_client.h"
#include "tests/simulation/sim_daemon.h"

namespace relay::simulation {

struct Outcome {
  std::optional<std::string> violation;
  std::uint64_t trace_hash = 0;
  std::uint64_t steps = 0;
  std::uint64_t sent = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t on_received = 0;
  std::uint64_t daemon_deaths = 0;
  std::uint64_t client_deaths = 0;
  std::uint64_t surfaced = 0;           // by hosts, to their agents
  std::uint64_t checks = 0;             // for something that sits untouched
  std::array<std::uint64_t, 9> ends{};  // deliveries by their state at the end
  std::uint64_t damages = 0;            // of files of the daemon
  std::uint64_t lost = 0;               // messages, by those
};

struct SimulationOptions {
  std::uint64_t seed = 0;
  Trace::Mode trace = Trace::Mode::Off;
  std::uint64_t size = 1;               // times as many messages and faults
  std::optional<StoreKind> store = {};  // instead of what the seed draws
  bool damage = false;                  // on the durable store, whose disk damages files
};

class Simulation {
 public:
  explicit Simulation(const SimulationOptions& options);
  ~Simulation();

  Outcome run();

 private:
  [[nodiscard]] bool chance(std::uint64_t in_hundred) { return random_.below(100) < in_hundred; }
  [[nodiscard]] Nanos within(Nanos span) { return Nanos{random_.below(static_cast<std::uint64_t>(span.count()) + 1)}; }
  FaultPlan draw_faults();
  DaemonPlan draw_daemon(const SimulationOptions& options);
  ClientPlan draw_client(std::size_t index);
  void plan_messages();
  void plan_faults();
  void plan_operator();
  void inject_fault();
  void send_random_message();
  void check_bounds();
  void check_liveness();
  void undo_holds();
  [[nodiscard]] std::vector<std::string> names() const;
  void heal();
  bool run_until_settled();
  bool step(SteadyTime until);

  SimulationOptions options_;
  SeededRandom random_;
  VirtualLoop loop_;
  Trace trace_{options_.trace, loop_};
  FaultPlan faults_;
  HistoryChecker checker_{trace_, loop_};
  SimNetwork network_{loop_, random_, faults_, trace_};
  std::unique_ptr<SimDaemon> daemon_;
  std::vector<std::unique_ptr<SimClient>> clients_;
  std::unique_ptr<Operator> operator_;
  std::vector<std::unique_ptr<BadClient>> bad_;
  bool prunes_names_ = false;  // again and again
  bool healed_ = false;
  std::uint64_t steps_ = 0;
  std::uint64_t client_deaths_ = 0;
  Nanos horizon_{};
  std::size_t max_output_bytes_ = 0;
};

}  // namespace relay::simulation
