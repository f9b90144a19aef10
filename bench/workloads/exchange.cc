#include "workloads/exchange.h"

#include <algorithm>

namespace relay::bench {

Result<Latencies> one_by_one(Driver& driver, const Sender& sender, std::string_view body, bool confirmed,
                             const RunLimit& extent) {
  Latencies latencies;
  const auto started = now();
  while (latencies.deliver_us.size() < extent.messages && seconds_since(started) < extent.seconds) {
    bool delivered = false, reported = !confirmed;
    const auto start = now();
    driver.at(sender.endpoint).send(sender.to, body);
    RELAY_TRY(driver.flush(sender.endpoint));
    while (!delivered || !reported)
      RELAY_TRY(driver.turn([&](std::size_t, const ReadCounts& counts) {
        const auto us = seconds_since(start) * 1e6;
        if (counts.deliveries > 0) {
          delivered = true;
          latencies.deliver_us.push_back(us);
        }
        if (counts.confirmations > 0 && confirmed) {
          reported = true;
          latencies.confirm_us.push_back(us);
        }
      }));
  }
  return latencies;
}

Result<Throughput> stream(Driver& driver, const Flow& flow, std::string_view body, const RunLimit& extent) {
  std::size_t sent = 0, deliveries = 0, confirmations = 0, turn_of = 0;
  const auto done = [&] {
    return std::min(flow.copies > 0 ? deliveries / flow.copies : sent, flow.confirmed ? confirmations : sent);
  };
  const Driver::OnRead count = [&](std::size_t, const ReadCounts& counts) {
    deliveries += counts.deliveries;
    confirmations += counts.confirmations;
  };
  bool more = true;
  const auto started = now();
  while (more || done() < sent) {
    more = more && sent < extent.messages && seconds_since(started) < extent.seconds;
    const auto room = more ? std::min(flow.window - std::min(flow.window, sent - done()), extent.messages - sent) : 0;
    for (std::size_t i = 0; i < room; ++i, ++sent) {
      const auto& sender = flow.senders[(turn_of + i) % flow.senders.size()];
      driver.at(sender.endpoint).send(sender.to, body);
    }
    for (std::size_t i = 0; i < std::min(room, flow.senders.size()); ++i)
      RELAY_TRY(driver.flush(flow.senders[(turn_of + i) % flow.senders.size()].endpoint));
    turn_of += room;
    if (done() < sent) RELAY_TRY(driver.turn(count));
  }
  return Throughput{.messages = sent, .seconds = seconds_since(started)};
}

}  // namespace relay::bench
