/// What `agent-relay bench` measured, as values, and how they look. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/render/text.h"

namespace relay::cli {

/// A piece of measuring ends with whichever comes first.
struct BenchLimit {
  std::size_t messages = 0;
  Millis time{};
};

/// Messages on one way, some at a time.
struct Measurement {
  std::size_t messages = 0;
  double seconds = 0;                     // from the first that left to the last that was delivered and answered
  std::vector<double> delivered_us = {};  // of each, where one left after the other: until its recipient had it,
  std::vector<double> accepted_us = {};   // and until its sender knew; empty where nobody answers

  void add(const Measurement& more);
  [[nodiscard]] double per_second() const;
};

struct BenchResults {
  std::string storage;     // the driver
  std::string durability;  // `power`, `process`; empty: nothing is kept
  std::size_t bytes = 0;   // of each message's text
  std::size_t window = 0;
  Measurement single = {}, many = {};          // through the daemon
  Measurement raw_single = {}, raw_many = {};  // through a raw forwarder

  [[nodiscard]] double latency_ratio() const;  // the daemon's median beside the forwarder's: how many times as long
  [[nodiscard]] double rate_ratio() const;     // the daemon's pace beside the forwarder's: which share of it
};

/// A JSON object; times in microseconds.
std::string json_of(const BenchResults& measured);
/// For a person.
std::string text_of(const BenchResults& measured, const Styler& paint);

}  // namespace relay::cli
