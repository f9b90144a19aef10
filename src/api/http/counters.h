/// Counts responses by operation and status, for /metrics.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

namespace relay::api {

class Counters {
 public:
  /// `operation` comes from the route table, or is empty for a path without a route.
  void count(std::string_view operation, int status) { ++counts_[{operation, status}]; }
  [[nodiscard]] const std::map<std::pair<std::string_view, int>, std::uint64_t>& counts() const { return counts_; }

 private:
  std::map<std::pair<std::string_view, int>, std::uint64_t> counts_;  // bounded by the table
};

}  // namespace relay::api
