/// Many endpoints: a hundred senders to one receiver, one sender to a thousand receivers, a thousand pairs.
#include "base/format.h"
#include "workloads/bodies.h"
#include "workloads/pair.h"
#include "workloads/workload.h"

namespace relay::bench {
namespace {

struct Crowd {
  std::vector<Seat> seats;
  std::size_t copies = 1;
  std::size_t window = 512;
};

/// Rate and CPU are per delivery, which equals per message when there is one copy.
Result<std::vector<Outcome>> run_crowd(const Subject& subject, const Scale& scale, const Crowd& crowd) {
  const auto running = RELAY_TRY(subject.start());
  const auto endpoints = RELAY_TRY(running->open(crowd.seats));
  auto driver = RELAY_TRY(Driver::over(endpoints));
  Flow flow{.senders = {},
            .copies = crowd.copies,
            .confirmed = subject.traits().guarantee != AckGuarantee::None,
            .window = crowd.window};
  for (std::size_t i = 0; i < crowd.seats.size(); ++i)
    if (crowd.seats[i].role == Role::Sender) flow.senders.push_back({.endpoint = i, .to = crowd.seats[i].sends_to});
  const auto body = body_of(kDefaultBody);
  RELAY_TRY(stream(driver, flow, body, {.seconds = scale.seconds * kWarmUpShare}));
  const ServerCost cost{*running};
  const auto throughput = RELAY_TRY(stream(driver, flow, body, {.seconds = scale.seconds}));
  Outcome outcome{.variant = std::string{kDefaultBody.title}, .measurements = {}};
  outcome.measurements.push_back({Metric::Rate, throughput.per_second() * static_cast<double>(crowd.copies)});
  cost.add_to(outcome.measurements, throughput.messages * crowd.copies);
  return std::vector{std::move(outcome)};
}

Crowd hundred_to_one() {
  Crowd crowd;
  for (int i = 0; i < 100; ++i)
    crowd.seats.push_back({.name = relay::format("Sender{}", i), .role = Role::Sender, .sends_to = "Bob"});
  crowd.seats.push_back({.name = "Bob"});
  return crowd;
}

Crowd one_to_thousand() {
  Crowd crowd{.seats = {}, .copies = 1'000, .window = 8};
  crowd.seats.push_back({.name = "Alice", .role = Role::Sender, .sends_to = std::string{kEveryone}});
  for (int i = 0; i < 1'000; ++i) crowd.seats.push_back({.name = relay::format("Bob{}", i), .role = Role::Audience});
  return crowd;
}

Crowd thousand_pairs() {
  Crowd crowd{.seats = {}, .window = 1'000};
  for (int i = 0; i < 1'000; ++i) {
    const auto receiver = relay::format("Bob{}", i);
    crowd.seats.push_back({.name = receiver});
    crowd.seats.push_back({.name = relay::format("Alice{}", i), .role = Role::Sender, .sends_to = receiver});
  }
  return crowd;
}

Workload crowd_work(std::string name, std::string title, Crowd (*crowd)()) {
  return {.name = std::move(name),
          .title = std::move(title),
          .headline = Metric::Rate,
          .unfit_reason = [crowd](const Traits& subject) -> std::optional<std::string> {
            if (crowd().seats.size() <= subject.max_agents) return std::nullopt;
            return "needs minutes to accept that many connections";
          },
          .run = [crowd](const Subject& subject, const Scale& scale) { return run_crowd(subject, scale, crowd()); }};
}

}  // namespace

Workload fan_in_work() { return crowd_work("fan-in", "a hundred to one, 512 messages in flight", hundred_to_one); }
Workload broadcast_work() {
  return crowd_work("broadcast", "one to a thousand, 8 messages in flight, deliveries counted", one_to_thousand);
}
Workload pairs_work() { return crowd_work("pairs", "a thousand pairs, one message of each in flight", thousand_pairs); }

}  // namespace relay::bench
