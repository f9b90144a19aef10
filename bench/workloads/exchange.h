/// The two patterns of all workloads: one message at a time, and a stream with a window.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "workloads/driver.h"

namespace relay::bench {

/// The endpoint that sends, and its recipient.
struct Sender {
  std::size_t endpoint = 0;
  std::string to;
};

/// A measurement ends at the first limit reached.
struct RunLimit {
  std::size_t messages = std::numeric_limits<std::size_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
};

/// The warm-up before a measurement, as a share of its length.
inline constexpr double kWarmUpShare = 0.2;

struct Latencies {
  std::vector<double> deliver_us = {};  // from before the write to after the read
  std::vector<double> confirm_us = {};  // until the confirmation; empty without confirmations
};

/// Sends the next message when the previous one was delivered and confirmed.
Result<Latencies> one_by_one(Driver& driver, const Sender& sender, std::string_view body, bool confirmed,
                             const RunLimit& extent);

struct Flow {
  std::vector<Sender> senders;
  std::size_t copies = 1;  // receivers per message; 0: stored for an offline receiver
  bool confirmed = false;
  std::size_t window = 0;  // messages sent but not yet delivered and confirmed
};

struct Throughput {
  std::size_t messages = 0;
  double seconds = 0;
  [[nodiscard]] double per_second() const { return static_cast<double>(messages) / seconds; }
};

/// Senders take turns. Ends when every message was delivered to all receivers and confirmed.
Result<Throughput> stream(Driver& driver, const Flow& flow, std::string_view body, const RunLimit& extent);

}  // namespace relay::bench
