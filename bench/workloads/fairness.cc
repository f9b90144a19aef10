/// The cost of a flood for others: a pair that sends one message at a time, alone and beside a process that sends as
/// fast as the daemon accepts to another agent.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/quantile.h"
#include "subjects/agent_relay.h"
#include "subjects/cores.h"
#include "workloads/exchange.h"
#include "workloads/workload.h"

namespace relay::bench {
namespace {

constexpr std::size_t kPacedBytes = 256, kFloodBytes = 1'024, kFloodWindow = 4'096;

/// Two connected seats of a daemon with their driver.
struct ConnectedPair {
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  Driver driver;

  static Result<ConnectedPair> open(RunningDaemon& daemon, const std::string& from, const std::string& to) {
    const std::array seats{Seat{.name = from, .role = Role::Sender, .sends_to = to}, Seat{.name = to}};
    auto endpoints = RELAY_TRY(daemon.open(seats));
    auto driver = RELAY_TRY(Driver::over(endpoints));
    return ConnectedPair{std::move(endpoints), std::move(driver)};
  }
};

/// Sends until it is killed.
class Flood {
 public:
  static Result<Flood> start(RunningDaemon& daemon) {
    auto pair = RELAY_TRY(ConnectedPair::open(daemon, "Mallory", "Bob"));
    auto process = RELAY_TRY(ServerProcess::create());
    RELAY_TRY(process.start([&] {
      use_all_cores();
      const Flow flow{.senders = {{.endpoint = 0, .to = "Bob"}}, .confirmed = true, .window = kFloodWindow};
      (void)stream(pair.driver, flow, std::string(kFloodBytes, 'x'), {});
    }));
    return Flood{std::move(process)};
  }

 private:
  explicit Flood(ServerProcess process) : process_{std::move(process)} {}
  ServerProcess process_;
};

/// Each round has its own daemon, so that the work left by a flood does not slow the pair that is measured alone.
Result<std::vector<Outcome>> run_paced_pair(const Scale& scale, bool flooded) {
  const auto daemon = RELAY_TRY(start_agent_relay(scale.program, {}));
  auto paced = RELAY_TRY(ConnectedPair::open(*daemon, "Carol", "Dave"));
  std::optional<Flood> flood;
  if (flooded) flood.emplace(RELAY_TRY(Flood::start(*daemon)));
  const auto latencies = RELAY_TRY(one_by_one(paced.driver, {.endpoint = 0, .to = "Dave"},
                                              std::string(kPacedBytes, 'x'), true, {.seconds = scale.seconds}));
  return std::vector{Outcome{.variant = "256 B, power",
                             .measurements = {{Metric::DeliverP50, quantile(latencies.deliver_us, 0.5)},
                                              {Metric::DeliverP99, quantile(latencies.deliver_us, 0.99)},
                                              {Metric::ConfirmP50, quantile(latencies.confirm_us, 0.5)},
                                              {Metric::ConfirmP99, quantile(latencies.confirm_us, 0.99)}}}};
}

}  // namespace

Workload fairness_work() {
  return {.name = "fairness",
          .title = "agent-relay: a paced pair, alone and beside a flood",
          .headline = Metric::ConfirmP99,
          .candidates = {{.traits = {.name = "alone", .title = "alone", .own = true},
                          .run = [](const Scale& scale) { return run_paced_pair(scale, false); }},
                         {.traits = {.name = "flooded", .title = "beside a flood", .own = true},
                          .run = [](const Scale& scale) { return run_paced_pair(scale, true); }}},
          .yardsticks = {"alone"}};
}

}  // namespace relay::bench
