/// The cost of a message against the number of connected agents and the length of the history. Agent Relay only.
#include "base/format.h"
#include "figures.h"
#include "subjects/agent_relay.h"
#include "workloads/bodies.h"
#include "workloads/pair.h"
#include "workloads/workload.h"

namespace relay::bench {
namespace {

constexpr std::size_t kWindow = 512;

/// One pair, sequential and windowed.
Result<Outcome> cost_of_a_message(Pair& pair, std::string variant, const Scale& scale) {
  const auto body = body_of(kDefaultBody);
  const Flow flow{.senders = {pair.alice()}, .confirmed = true, .window = kWindow};
  RELAY_TRY(stream(*pair.driver, flow, body, {.seconds = scale.seconds * kWarmUpShare}));
  const auto seen = RELAY_TRY(one_by_one(*pair.driver, pair.alice(), body, true, {.seconds = scale.seconds}));
  const ServerCost cost{*pair.running};
  const auto throughput = RELAY_TRY(stream(*pair.driver, flow, body, {.seconds = scale.seconds}));
  Outcome outcome{.variant = std::move(variant),
                  .measurements = {{Metric::DeliverP50, quantile(seen.deliver_us, 0.5)},
                                   {Metric::DeliverP99, quantile(seen.deliver_us, 0.99)},
                                   {Metric::Rate, throughput.per_second()}}};
  cost.add_to(outcome.measurements, throughput.messages);
  return outcome;
}

Result<std::vector<Outcome>> run_agents(const Subject& subject, const Scale& scale) {
  std::vector<Outcome> outcomes;
  for (const int count : {10, 100, 1'000}) {
    auto pair = RELAY_TRY(Pair::at(subject));
    std::vector<Seat> seats;
    for (int i = 2; i < count; ++i) seats.push_back({.name = relay::format("Agent{}", i)});
    const auto others = RELAY_TRY(pair.running->open(seats));
    outcomes.push_back(RELAY_TRY(cost_of_a_message(pair, relay::format("{} agents", count), scale)));
  }
  return outcomes;
}

Result<std::vector<Outcome>> run_history(const Subject& subject, const Scale& scale) {
  std::vector<Outcome> outcomes;
  auto pair = RELAY_TRY(Pair::at(subject));
  const Flow flow{.senders = {pair.alice()}, .confirmed = true, .window = kWindow};
  std::size_t filled = 0;
  for (const auto rows : scale.histories) {
    RELAY_TRY(stream(*pair.driver, flow, body_of(kBodySizes[0]), {.messages = rows - filled}));
    filled = rows;
    outcomes.push_back(RELAY_TRY(cost_of_a_message(pair, relay::format("{} before", rows), scale)));
  }
  return outcomes;
}

}  // namespace

Workload agents_work() {
  return {.name = "agents",
          .title = "agent-relay only: one pair while others are connected",
          .headline = Metric::CpuPerMillion,
          .unfit_reason = only_for("process"),
          .run = run_agents,
          .only_subject = "process"};
}

Workload history_work() {
  return {.name = "history",
          .title = "agent-relay only: one pair with a long history",
          .headline = Metric::CpuPerMillion,
          .unfit_reason = only_for("process"),
          .run = run_history,
          .only_subject = "process",
          .max_rounds = 1};
}

}  // namespace relay::bench
