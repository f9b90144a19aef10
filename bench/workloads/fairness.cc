/// The cost of a flood for others: a pair that sends one message at a time, alone and beside a process that sends as
/// fast as the daemon accepts to another agent.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/quantile.h"
#include "subjects/cores.h"
#include "subjects/ours.h"
#include "workloads/exchange.h"
#include "workloads/workload.h"

namespace relay::bench {
namespace {

constexpr std::size_t kQuietBytes = 256, kFloodBytes = 1'024, kFloodWindow = 4'096;

/// Two connected seats of a daemon with their driver.
struct Talk {
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  Driver driver;

  static Result<Talk> open(RunningDaemon& daemon, const std::string& from, const std::string& to) {
    const std::array seats{Seat{.name = from, .role = Role::Sender, .sends_to = to}, Seat{.name = to}};
    auto endpoints = RELAY_TRY(daemon.open(seats));
    auto driver = RELAY_TRY(Driver::over(endpoints));
    return Talk{std::move(endpoints), std::move(driver)};
  }
};

/// Sends until it is killed.
class Flood {
 public:
  static Result<Flood> start(RunningDaemon& daemon) {
    auto run_pair = RELAY_TRY(Talk::open(daemon, "Chatterbox", "Bob"));
    auto process = RELAY_TRY(ServerProcess::create());
    RELAY_TRY(process.start([&] {
      use_all_cores();
      const Flow flow{.senders = {{.endpoint = 0, .to = "Bob"}}, .confirmed = true, .window = kFloodWindow};
      (void)stream(run_pair.driver, flow, std::string(kFloodBytes, 'x'), {});
    }));
    return Flood{std::move(process)};
  }

 private:
  explicit Flood(ServerProcess process) : process_{std::move(process)} {}
  ServerProcess process_;
};

/// Each round has its own daemon: the remains of a flood must not slow the pair that is measured alone.
Result<std::vector<Outcome>> run_quiet_pair(const Scale& scale, bool flooded) {
  const auto daemon = RELAY_TRY(start_ours(scale.program, {}));
  auto quiet = RELAY_TRY(Talk::open(*daemon, "Carol", "Dave"));
  std::optional<Flood> flood;
  if (flooded) flood.emplace(RELAY_TRY(Flood::start(*daemon)));
  const auto seen = RELAY_TRY(one_by_one(quiet.driver, {.endpoint = 0, .to = "Dave"}, std::string(kQuietBytes, 'x'),
                                         true, {.seconds = scale.seconds}));
  return std::vector{Outcome{.variant = "256 B, power",
                             .measurements = {{Metric::DeliverP50, quantile(seen.deliver_us, 0.5)},
                                              {Metric::DeliverP99, quantile(seen.deliver_us, 0.99)},
                                              {Metric::ConfirmP50, quantile(seen.confirm_us, 0.5)},
                                              {Metric::ConfirmP99, quantile(seen.confirm_us, 0.99)}}}};
}

}  // namespace

Workload fairness_work() {
  return {.name = "fairness",
          .title = "ours: a paced pair, alone and beside a flood",
          .headline = Metric::ConfirmP99,
          .candidates = {{.traits = {.name = "alone", .title = "alone", .ours = true},
                          .run = [](const Scale& scale) { return run_quiet_pair(scale, false); }},
                         {.traits = {.name = "flooded", .title = "beside a flood", .ours = true},
                          .run = [](const Scale& scale) { return run_quiet_pair(scale, true); }}},
          .yardsticks = {"alone"}};
}

}  // namespace relay::bench
