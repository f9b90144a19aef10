/// Mail for who is away: stored while the receiver is gone, drained when it comes back.
#include "base/format.h"
#include "workloads/bodies.h"
#include "workloads/pair.h"
#include "workloads/workload.h"

namespace relay::bench {
namespace {

constexpr std::size_t kWindow = 512;

Result<std::vector<Outcome>> run_backlog(const Subject& subject, const Scale& scale) {
  const Seat alice{.name = "Alice", .role = Role::Sender, .sends_to = "Bob"}, bob{.name = "Bob"};
  const auto running = RELAY_TRY(subject.start());
  RELAY_TRY(running->open(std::span{&bob, 1}));  // known from now on, and gone again
  const ServerCost cost{*running};

  const auto sender = RELAY_TRY(running->open(std::span{&alice, 1}));
  auto storing = RELAY_TRY(Driver::over(sender));
  const Flow flow{.senders = {{.endpoint = 0, .to = "Bob"}}, .copies = 0, .confirmed = true, .window = kWindow};
  const auto stored = RELAY_TRY(stream(storing, flow, body_of(kDefaultBody), {.messages = scale.backlog}));

  const auto began = now();
  const auto receiver = RELAY_TRY(running->open(std::span{&bob, 1}));
  auto draining = RELAY_TRY(Driver::over(receiver));
  std::size_t drained = 0;
  double first_us = 0;
  while (drained < scale.backlog)
    RELAY_TRY(draining.turn([&](std::size_t, const Heard& heard) {
      if (drained == 0) first_us = seconds_since(began) * 1e6;
      drained += heard.deliveries;
    }));
  const auto seconds = seconds_since(began);

  Outcome outcome{.variant = relay::format("{} messages of {}", scale.backlog, kDefaultBody.title), .measurements = {}};
  outcome.measurements = {{Metric::FirstUs, first_us},
                          {Metric::StoreRate, stored.per_second()},
                          {Metric::DrainRate, static_cast<double>(drained) / seconds}};
  cost.add_to(outcome.measurements, drained);
  return std::vector{std::move(outcome)};
}

}  // namespace

Workload backlog_work() {
  return {.name = "backlog",
          .title = "stored while the receiver is away, drained when it is back",
          .headline = Metric::DrainRate,
          .unfit = needs_kept_mail,
          .run = run_backlog,
          .most_rounds = 3};
}

}  // namespace relay::bench
