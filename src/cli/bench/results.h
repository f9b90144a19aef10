/// The results of `agent-relay bench` and their output. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/render/text.h"

namespace relay::cli {

/// A measurement ends at the first of both.
struct BenchLimit {
  std::size_t messages = 0;
  Millis time{};
};

/// Messages through the daemon or the raw forwarder.
struct Measurement {
  std::size_t messages = 0;
  double seconds = 0;                     // from the first send to the last delivery and ACK
  std::vector<double> delivered_us = {};  // of each message, one at a time: until the recipient has it,
  std::vector<double> accepted_us = {};   // and until the ACK; empty for the forwarder

  void add(const Measurement& more);
  [[nodiscard]] double per_second() const;
};

struct BenchResults {
  std::string storage;     // the driver
  std::string durability;  // `power`, `process`; empty: in memory
  std::size_t bytes = 0;   // of each message's text
  std::size_t window = 0;
  Measurement single = {}, many = {};          // through the daemon
  Measurement raw_single = {}, raw_many = {};  // through a raw forwarder

  [[nodiscard]] double latency_ratio() const;  // median of the daemon / median of the forwarder
  [[nodiscard]] double rate_ratio() const;     // rate of the daemon / rate of the forwarder
};

/// A JSON object; times in microseconds.
std::string json_of(const BenchResults& measured);
/// Text for a terminal.
std::string text_of(const BenchResults& measured, const Styler& paint);

}  // namespace relay::cli
