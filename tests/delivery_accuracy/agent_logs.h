/// The messages that agents received, from the logs of the scripted agents.
///
/// A message counts as received when the composer contains it at Enter. The agent logs it before it shows any of it
/// (tests/scripted_agent), so the log has everything that a host can have observed and reported.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "plan.h"

namespace relay::accuracy {

class AgentLogs {
 public:
  explicit AgentLogs(const Plan& plan) : plan_{plan}, logs_(plan.agents) {}

  /// The next bytes of an agent's log, split anywhere.
  void append(std::size_t agent, std::string_view bytes);
  /// Reads the bytes appended since the last call.
  Result<void> read(std::size_t agent, const std::string& path);

  [[nodiscard]] std::size_t times_received(Number number) const;
  [[nodiscard]] std::size_t received() const { return times_received_.size(); }
  /// Submitted texts that were not exactly one complete body for this agent.
  [[nodiscard]] std::size_t torn() const { return torn_; }
  /// Messages received after a later one of the same sender in the same mode.
  [[nodiscard]] std::size_t out_of_order() const { return out_of_order_; }
  /// Descriptions of the first errors.
  [[nodiscard]] const std::vector<std::string>& examples() const { return examples_; }

 private:
  struct Log {
    std::size_t read = 0;
    std::string partial_line;
  };
  void on_submit(std::size_t agent, const std::string& text);
  void add_example(std::string description);

  Plan plan_;
  std::vector<Log> logs_;
  std::unordered_map<Number, std::size_t> times_received_;
  std::map<PlannedMessage, Number> latest_;
  std::size_t torn_ = 0;
  std::size_t out_of_order_ = 0;
  std::vector<std::string> examples_;
};

}  // namespace relay::accuracy
