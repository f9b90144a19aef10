/// One message at a time: time to delivery and to confirmation.
#include "figures.h"
#include "workloads/bodies.h"
#include "workloads/pair.h"
#include "workloads/workload.h"

namespace relay::bench {
namespace {

Result<std::vector<Outcome>> run_sequential(const Subject& subject, const Scale& scale) {
  const bool confirmed = subject.traits().guarantee != AckGuarantee::None;
  auto pair = RELAY_TRY(Pair::at(subject));
  std::vector<Outcome> outcomes;
  for (const auto& size : kBodySizes) {
    const auto body = body_of(size);
    RELAY_TRY(one_by_one(*pair.driver, pair.alice(), body, confirmed, {.seconds = scale.seconds * kWarmUpShare}));
    const ServerCost cost{*pair.running};
    const auto latencies =
        RELAY_TRY(one_by_one(*pair.driver, pair.alice(), body, confirmed, {.seconds = scale.seconds}));
    Outcome outcome{.variant = std::string{size.title}, .measurements = {}};
    outcome.measurements = {{Metric::DeliverP50, quantile(latencies.deliver_us, 0.5)},
                            {Metric::DeliverP99, quantile(latencies.deliver_us, 0.99)},
                            {Metric::DeliverP999, quantile(latencies.deliver_us, 0.999)}};
    if (confirmed) {
      outcome.measurements.push_back({Metric::ConfirmP50, quantile(latencies.confirm_us, 0.5)});
      outcome.measurements.push_back({Metric::ConfirmP99, quantile(latencies.confirm_us, 0.99)});
      outcome.measurements.push_back({Metric::ConfirmP999, quantile(latencies.confirm_us, 0.999)});
    }
    cost.add_to(outcome.measurements, latencies.deliver_us.size());
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

}  // namespace

Workload sequential_work() {
  return {.name = "sequential",
          .title = "one to one, one message at a time",
          .headline = Metric::DeliverP50,
          .unfit_reason = all_can,
          .run = run_sequential};
}

}  // namespace relay::bench
