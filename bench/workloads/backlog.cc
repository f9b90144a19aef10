/// A backlog: messages stored while the receiver is offline, drained when it reconnects.
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
  RELAY_TRY(running->open(std::span{&bob, 1}));  // registers the receiver and disconnects it
  const ServerCost cost{*running};

  const auto sender = RELAY_TRY(running->open(std::span{&alice, 1}));
  auto storing = RELAY_TRY(Driver::over(sender));
  const Flow flow{.senders = {{.endpoint = 0, .to = "Bob"}}, .copies = 0, .confirmed = true, .window = kWindow};
  const auto stored = RELAY_TRY(stream(storing, flow, body_of(kDefaultBody), {.messages = scale.backlog}));

  const auto started = now();
  const auto receiver = RELAY_TRY(running->open(std::span{&bob, 1}));
  auto draining = RELAY_TRY(Driver::over(receiver));
  std::size_t drained = 0;
  double first_us = 0;
  while (drained < scale.backlog)
    RELAY_TRY(draining.turn([&](std::size_t, const ReadCounts& counts) {
      if (drained == 0) first_us = seconds_since(started) * 1e6;
      drained += counts.deliveries;
    }));
  const auto seconds = seconds_since(started);

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
          .title = "stored while the receiver is offline, drained when it reconnects",
          .headline = Metric::DrainRate,
          .unfit_reason = needs_stored_messages,
          .run = run_backlog,
          .max_rounds = 3};
}

}  // namespace relay::bench
