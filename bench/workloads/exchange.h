/// The two ways in which messages are moved by all kinds of work: one after the other, and as a stream with a window.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "workloads/driver.h"

namespace relay::bench {

/// Which endpoint sends, and to whom.
struct Sender {
  std::size_t endpoint = 0;
  std::string to;
};

/// A measurement ends with whichever comes first.
struct Extent {
  std::size_t messages = std::numeric_limits<std::size_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
};

/// Of the seconds of a measurement, beforehand.
inline constexpr double kWarmUpShare = 0.2;

struct Latencies {
  std::vector<double> deliver_us = {};  // from before the write to after the read
  std::vector<double> confirm_us = {};  // until the sender knew; empty where nobody tells
};

/// One message at a time; the next leaves when this one was delivered and confirmed.
Result<Latencies> one_by_one(Driver& driver, const Sender& sender, std::string_view body, bool confirmed,
                             const Extent& extent);

struct Flow {
  std::vector<Sender> senders;
  std::size_t copies = 1;  // how many receive each message; 0: it is kept for who is away
  bool confirmed = false;
  std::size_t window = 0;  // messages that were sent and are not yet delivered and confirmed
};

struct Pace {
  std::size_t messages = 0;
  double seconds = 0;
  [[nodiscard]] double per_second() const { return static_cast<double>(messages) / seconds; }
};

/// Senders take turns; ends when everything that was sent arrived everywhere and was confirmed.
Result<Pace> stream(Driver& driver, const Flow& flow, std::string_view body, const Extent& extent);

}  // namespace relay::bench
