/// The messages that agents received: the logs of scripted agents, read as they grow.
///
/// A message counts as received when the composer held it at Enter. The agent logs it before it shows anything of it
/// (tests/scripted_agent), so the log has everything that a host can have seen and reported.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "plan.h"

namespace relay::verdicts {

class Testimony {
 public:
  explicit Testimony(const Plan& plan) : plan_{plan}, logs_(plan.agents) {}

  /// The next bytes of this agent's log; cut anywhere.
  void hear(std::size_t agent, std::string_view bytes);
  /// Reads the bytes appended since the last call.
  Result<void> read(std::size_t agent, const std::string& path);

  [[nodiscard]] std::size_t times(Number number) const;
  [[nodiscard]] std::size_t received() const { return times_.size(); }
  /// Texts that were not exactly one whole parcel for this agent; some of them described.
  [[nodiscard]] std::size_t torn() const { return torn_; }
  /// Parcels that came after a later one of the same sender in the same mode.
  [[nodiscard]] std::size_t disordered() const { return disordered_; }
  [[nodiscard]] const std::vector<std::string>& examples() const { return examples_; }

 private:
  struct Log {
    std::size_t read = 0;
    std::string rest;  // a line that has not ended
  };
  void on_submit(std::size_t agent, const std::string& text);
  void example(std::string sentence);

  Plan plan_;
  std::vector<Log> logs_;
  std::unordered_map<Number, std::size_t> times_;
  std::map<PlannedMessage, Number> latest_;
  std::size_t torn_ = 0;
  std::size_t disordered_ = 0;
  std::vector<std::string> examples_;
};

}  // namespace relay::verdicts
