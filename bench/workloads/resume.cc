/// Resume after a disconnect: from reconnecting to the first message that was sent meanwhile.
#include "figures.h"
#include "workloads/bodies.h"
#include "workloads/pair.h"
#include "workloads/workload.h"

namespace relay::bench {
namespace {

// Some subjects redeliver messages sent into a dead connection after 30 s. This workload does not measure that.
constexpr std::chrono::milliseconds kUntilNoticed{5};

Result<std::vector<Outcome>> run_resume(const Subject& subject, const Scale& scale) {
  const Seat alice{.name = "Alice", .role = Role::Sender, .sends_to = "Bob"}, bob{.name = "Bob"};
  const auto running = RELAY_TRY(subject.start());
  const auto sender = RELAY_TRY(running->open(std::span{&alice, 1}));
  auto sending = RELAY_TRY(Driver::over(sender));
  auto receiver = RELAY_TRY(running->open(std::span{&bob, 1}));
  const Flow flow{.senders = {{.endpoint = 0, .to = "Bob"}}, .copies = 0, .confirmed = true, .window = 1};
  const auto body = body_of(kDefaultBody);

  std::vector<double> first_us;
  for (const auto started = now(); seconds_since(started) < scale.seconds;) {
    receiver.clear();  // disconnect without BYE
    RELAY_TRY(sending.idle(kUntilNoticed));
    RELAY_TRY(stream(sending, flow, body, {.messages = 1}));
    const auto start = now();
    receiver = RELAY_TRY(running->open(std::span{&bob, 1}));
    auto receiving = RELAY_TRY(Driver::over(receiver));
    for (bool delivered = false; !delivered;)
      RELAY_TRY(receiving.turn([&](std::size_t, const ReadCounts& counts) { delivered = counts.deliveries > 0; }));
    first_us.push_back(seconds_since(start) * 1e6);
  }
  return std::vector{Outcome{
      .variant = std::string{kDefaultBody.title},
      .measurements = {{Metric::DeliverP50, quantile(first_us, 0.5)}, {Metric::DeliverP99, quantile(first_us, 0.99)}}}};
}

}  // namespace

Workload resume_work() {
  return {.name = "resume",
          .title = "after a disconnect, from reconnecting to the first stored message",
          .headline = Metric::DeliverP50,
          .unfit_reason = needs_stored_messages,
          .run = run_resume};
}

}  // namespace relay::bench
