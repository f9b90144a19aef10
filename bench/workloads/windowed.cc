/// One sender, one receiver, limited only by the window.
#include <algorithm>

#include "workloads/bodies.h"
#include "workloads/pair.h"
#include "workloads/workload.h"

namespace relay::bench {
namespace {

// Below the point where any subject drops messages (ZeroMQ: 1000 messages; Redis pub/sub: 8 MB for a reader).
constexpr std::size_t kWindow = 512;
constexpr std::size_t kWindowBytes = 4 << 20;

Result<std::vector<Outcome>> run_windowed(const Subject& subject, const Scale& scale) {
  auto pair = RELAY_TRY(Pair::at(subject));
  std::vector<Outcome> outcomes;
  for (const auto& size : kBodySizes) {
    const auto body = body_of(size);
    const Flow flow{.senders = {pair.alice()},
                    .confirmed = subject.traits().guarantee != AckGuarantee::None,
                    .window = std::min(kWindow, kWindowBytes / size.bytes)};
    RELAY_TRY(stream(*pair.driver, flow, body, {.seconds = scale.seconds * kWarmUpShare}));
    const ServerCost cost{*pair.running};
    const auto throughput = RELAY_TRY(stream(*pair.driver, flow, body, {.seconds = scale.seconds}));
    Outcome outcome{.variant = std::string{size.title}, .measurements = {{Metric::Rate, throughput.per_second()}}};
    cost.add_to(outcome.measurements, throughput.messages);
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

}  // namespace

Workload windowed_work() {
  return {.name = "windowed",
          .title = "one to one, 512 messages in flight",
          .headline = Metric::Rate,
          .unfit_reason = all_can,
          .run = run_windowed};
}

}  // namespace relay::bench
