/// The real processes: a daemon, a host for each agent, the agents, in a separate home and project.
///
/// A killed process is restarted under its name after a moment. A process that ends by itself is an error with its
/// output.
/// Ownership: owns the processes and the directory; nothing outlives it. Threading: one thread; nothing here waits.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "crash/process.h"

namespace relay::verdicts {

struct Props {
  std::string program;  // agent-relay
  std::string agent;    // scripted_agent
  std::string profile;  // how its screen is read
  std::string durability = "power";
  std::size_t agents = 6;
  bool keep = false;  // the files, for a person to look into
};

class Stage {
 public:
  Stage(Props props, Random& random) : props_{std::move(props)}, random_{random} {}
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// Creates the directory and starts every process.
  Result<void> open(SteadyTime now);
  /// Restarts killed processes after their pause.
  Result<void> tend(SteadyTime now);

  /// Kills with -9. False when the process is not running.
  bool kill_daemon(SteadyTime now);
  bool kill_host(std::size_t agent, SteadyTime now);
  bool kill_agent(std::size_t agent);
  [[nodiscard]] bool everybody_is_here() const;

  [[nodiscard]] const std::string& place() const { return place_; }
  [[nodiscard]] std::string socket() const { return place_ + "/r.sock"; }
  [[nodiscard]] std::string log_of(std::size_t agent) const;
  static std::string name_of(std::size_t agent);

 private:
  struct Actor {
    crash::Process process;
    bool here = false;
    bool may_end = false;  // its agent was killed: it ends by itself
    SteadyTime back_at{};
  };
  Result<void> furnish();
  [[nodiscard]] Result<crash::Process> start(std::vector<std::string> words, const std::string& output) const;
  Result<void> start_daemon();
  Result<void> start_host(std::size_t agent);
  void send_away(Actor& actor, SteadyTime now);
  [[nodiscard]] pid_t agent_of(pid_t host) const;
  [[nodiscard]] std::string last_words(const std::string& file) const;

  Props props_;
  Random& random_;
  std::string place_;
  std::string project_;
  std::string records_;  // of the hosts
  Actor daemon_;
  std::vector<Actor> hosts_;
};

}  // namespace relay::verdicts
