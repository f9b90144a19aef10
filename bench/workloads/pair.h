/// One sender and one receiver at a newly started subject.
#pragma once

#include <memory>
#include <vector>

#include "subjects/subject.h"
#include "workloads/exchange.h"
#include "workloads/metric.h"

namespace relay::bench {

struct Pair {
  std::unique_ptr<RunningServer> running;
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  std::unique_ptr<Driver> driver;

  [[nodiscard]] Sender alice() const { return {.endpoint = 0, .to = "Bob"}; }
  static Result<Pair> at(const Subject& subject);
  static Result<Pair> at(std::unique_ptr<RunningServer> running);
};

/// CPU seconds per million messages and peak memory, of the server between two samples.
class ServerCost {
 public:
  explicit ServerCost(const RunningServer& running) : server_{running.server()}, before_{server_.usage()} {}
  void add_to(std::vector<Measurement>& measurements, std::size_t messages) const;

 private:
  const ServerProcess& server_;
  Usage before_;
};

}  // namespace relay::bench
